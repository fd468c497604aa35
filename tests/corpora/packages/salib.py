"""Sensitivity analysis (SALib: analyze.sobol, analyze.delta, analyze.pawn, analyze.rsa, sample.saltelli)."""

import numpy as np


def first_order(a, ab, b):
    y = np.r_[a, b]
    return np.mean(b * (ab - a), axis=0) / np.var(y, axis=0)


def separate(y, factors, count):
    """sobol.separate_output_values: the outputs of the rows of a design."""
    step = 2 * factors + 2
    ab, ba = np.zeros((count, factors)), np.zeros((count, factors))
    # dlb: parallel, BLOCK
    for j in range(factors):
        ab[:, j] = y[(j + 1) : y.size : step]
        ba[:, j] = y[(j + 1 + factors) : y.size : step]
    return y[0 : y.size : step], y[(step - 1) : y.size : step], ab, ba


def sobol(a, b, ab, ba, resamples):
    """sobol.analyze: indices of first and second order with bootstrapped intervals, in arrays under keys."""
    factors = ab.shape[1]
    s = {"S1": np.zeros(factors), "S1_conf": np.zeros(factors), "S2": np.full((factors, factors), np.nan)}
    # dlb: parallel, BLOCK
    for j in range(factors):
        s["S1"][j] = first_order(a, ab[:, j], b)
        spread = first_order(a[resamples], ab[resamples, j], b[resamples])
        if np.ptp(np.r_[a[resamples], b[resamples]]) != 0.0:
            s["S1_conf"][j] = 1.96 * spread.std(ddof=1)
        else:
            s["S1_conf"][j] = 0.0
    # dlb: parallel, BLOCK
    for j in range(factors):
        for k in range(j + 1, factors):
            s["S2"][j, k] = np.mean(ba[:, j] * ab[:, k] - a * b) - s["S1"][j] - s["S1"][k]
    return s


def bootstrap(x, y, count):
    """delta.sobol_first_conf: the rows are drawn before the loop."""
    rows = np.random.choice(len(y), size=(count, len(y)), replace=True)
    s = np.zeros(count)
    # dlb: parallel, BLOCK
    for i in range(count):
        drawn = rows[i, :]
        s[i] = np.var(y[drawn]) - np.mean(x[drawn]) ** 2
    return s


def pawn(x, y, slices):
    """pawn.analyze: distances of distributions, slice by slice of each factor, and statistics of them."""
    factors = x.shape[1]
    results, distances = np.full((factors, 3), np.nan), np.full((slices, factors), np.nan)
    # dlb: parallel, BLOCK
    for d in range(factors):
        values = x[:, d]
        quantiles = np.nanquantile(values, np.linspace(0, 1, slices + 1))
        for s in range(slices):
            chosen = y[(values >= quantiles[s]) & (values < quantiles[s + 1])]
            if len(chosen) == 0:
                continue
            distances[s, d] = abs(chosen.mean() - y.mean())
        column = distances[:, d]
        results[d, :] = [np.nanmin(column), np.nanmean(column), np.nanmax(column)]
    return results


def rsa(x, y, bins):
    """rsa.rsa: a column at a time, in one array that each iteration fills."""
    result = np.full((bins, x.shape[1]), np.nan)
    column = np.zeros(len(y))
    # dlb: parallel, BLOCK, private(column)
    for d in range(x.shape[1]):
        column[:] = x[:, d]
        edges = np.quantile(column, np.linspace(0, 1, bins + 1))
        for s in range(bins):
            inside = (edges[s] < column) & (column <= edges[s + 1])
            if inside.any():
                result[s, d] = y[inside].mean() - y[~inside].mean()
    return result


def saltelli(base, factors):
    """saltelli.sample: rows of a design, with a counter of the next row."""
    design = np.zeros(((factors + 2) * len(base), factors))
    index = 0
    # Not legal: the row of the design is counted over iterations (`index = i * (factors + 2)` would do).
    # dlb: parallel, BLOCK
    for i in range(len(base)):
        for j in range(factors):
            design[index, j] = base[i, j]
        index += 1
        for k in range(factors):
            for j in range(factors):
                if j == k:
                    design[index, j] = base[i, j + factors]
                else:
                    design[index, j] = base[i, j]
            index += 1
        for j in range(factors):
            design[index, j] = base[i, j + factors]
        index += 1
    return design


rng = np.random.default_rng(1)
np.random.seed(1)
outputs = rng.random(12 * 10)
a, b, ab, ba = separate(outputs, 5, 10)
for key, value in sobol(a, b, ab, ba, rng.integers(0, 10, (10, 7))).items():
    print(key, value.tolist())
x, y = rng.random((40, 4)), rng.random(40)
print(bootstrap(x[:, 0], y, 9).tolist())
print(pawn(x, y, 5).tolist())
print(rsa(x, y, 4).tolist())
print(saltelli(rng.random((6, 6)), 3).tolist())
