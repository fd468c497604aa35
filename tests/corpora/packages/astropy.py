"""Astronomy (astropy: stats, timeseries, convolution.utils, modeling)."""

import numpy as np


def jackknife(data):
    """stats.jackknife_resampling: each row without one value."""
    n = data.shape[0]
    resamples = np.empty([n, n - 1])
    # dlb: parallel, BLOCK
    for i in range(n):
        resamples[i] = np.delete(data, i)
    return resamples


def bootstrap(data, count, function):
    """stats.bootstrap: rows drawn from the generator of numpy."""
    boot = np.empty(count)
    # Not legal: each iteration draws from where the one before left the generator.
    # dlb: parallel, BLOCK
    for i in range(count):
        rows = np.random.randint(low=0, high=data.shape[0], size=data.shape[0])
        boot[i] = function(data[rows])
    return boot


def ripley(distances, radii):
    """stats.RipleysKEstimator: the pairs within each radius."""
    result = np.zeros(len(radii))
    # dlb: parallel, BLOCK
    for r in range(len(radii)):
        result[r] = (distances < radii[r]).sum()
    return result


def edge_distances(data, low, high):
    """RipleysKEstimator, mode ripley: a stretch for each point, shorter from one to the next."""
    count = len(data)
    across, down = np.zeros(count * (count - 1) // 2), np.zeros(count * (count - 1) // 2)
    # dlb: parallel, BLOCK
    for k in range(count - 1):
        nearest_x = min(high - data[k][0], data[k][0] - low)
        nearest_y = min(high - data[k][1], data[k][1] - low)
        start = (k * (2 * (count - 1) - (k - 1))) // 2
        end = ((k + 1) * (2 * (count - 1) - k)) // 2
        across[start:end] = nearest_x * np.ones(count - 1 - k)
        down[start:end] = nearest_y * np.ones(count - 1 - k)
    return across, down


def weight_histogram(breaks, totals, n):
    """stats.funcs.fold_intervals and histogram_intervals: bins shared by neighbouring intervals."""
    h = np.zeros(n)
    start = n * breaks[0]
    # Not legal: each interval begins where the one before ended (`start = n * breaks[i]` would do).
    # dlb: parallel, BLOCK
    for i, total in enumerate(totals):
        end = n * breaks[i + 1]
        for j in range(int(np.floor(start)), int(np.ceil(end))):
            h[j] += total * max(0.0, min(j + 1, end) - max(j, start))
        start = end
    return h


def weight_histogram_apart(breaks, totals, n):
    """The same with the beginning read from the breaks."""
    h = np.zeros(n)
    # dlb: parallel, BLOCK
    for i, total in enumerate(totals):
        start, end = n * breaks[i], n * breaks[i + 1]
        for j in range(int(np.floor(start)), int(np.ceil(end))):
            h[j] += total * max(0.0, min(j + 1, end) - max(j, start))
    return h


def bls(t, y, ivar, durations, period):
    """timeseries.BoxLeastSquares, bls_slow: the best of all durations and phases."""
    best = (-np.inf, None)
    # dlb: parallel, BLOCK
    for duration in durations:
        for t0 in np.arange(0, period, duration / 2):
            inside = np.abs((t - t0 + 0.5 * period) % period - 0.5 * period) < 0.5 * duration
            if not inside.any() or inside.all():
                continue
            y_in = np.sum(y[inside] * ivar[inside]) / np.sum(ivar[inside])
            y_out = np.sum(y[~inside] * ivar[~inside]) / np.sum(ivar[~inside])
            depth = y_out - y_in
            objective = -0.5 * np.sum((y[inside] - y_in) ** 2 * ivar[inside])
            if depth > 0 and objective > best[0]:
                best = (objective, (depth, duration, t0))
    return best


def scatter(bins, product, length):
    """lombscargle trig_sum, low-rank approximation: complex bin counts, a column at a time."""
    temp = np.zeros((length, product.shape[1]), dtype=complex)
    # dlb: parallel, BLOCK
    for k in range(product.shape[1]):
        real = np.bincount(bins, weights=np.real(product[:, k]), minlength=length)
        imaginary = np.bincount(bins, weights=np.imag(product[:, k]), minlength=length)
        temp[:, k] = real + 1j * imaginary
    return temp


def discretize(model, x):
    """convolution.discretize_integrate_1D: an array that grows by each bin's integral."""
    values = np.array([])
    # Not legal: each iteration makes the array of the one before anew, longer (a list to append to would do).
    # dlb: parallel, BLOCK
    for i in range(x.size - 1):
        values = np.append(values, (model(x[i]) + model(x[i + 1])) / 2)
    return values


def discretize_2d(model, x, y):
    """convolution.discretize_integrate_2D: an integral for each pixel."""
    values = np.empty((y.size - 1, x.size - 1))
    # dlb: parallel, BLOCK
    for i in range(x.size - 1):
        for j in range(y.size - 1):
            values[j, i] = model((x[i] + x[i + 1]) / 2, (y[j] + y[j + 1]) / 2)
    return values


def chebyshev(x, degree):
    """modeling.Chebyshev1D.fit_deriv: each polynomial from the two before."""
    v = np.empty((degree + 1, *x.shape))
    v[0], v[1] = 1, x
    # Not legal: each polynomial is computed from the two before.
    # dlb: parallel, BLOCK
    for i in range(2, degree + 1):
        v[i] = v[i - 1] * 2 * x - v[i - 2]
    return v


class Line:
    """A model that is fitted in place."""

    def __init__(self):
        self.slope = self.intercept = 0.0


def fit(model, x, data, parameters):
    """modeling.fitting.parallel_fit_dask, a chunk: one model is fitted in place for all positions."""
    # Not legal: the one model is changed by each iteration (one made in the body would do).
    # dlb: parallel, BLOCK
    for index in range(len(data)):
        if np.all(np.isnan(data[index])):
            parameters[:, index] = np.nan
            continue
        model.slope, model.intercept = np.polyfit(x, data[index], 1)
        parameters[:, index] = model.slope, model.intercept


def fit_apart(x, data, parameters):
    """The same with a model for each position."""
    # dlb: parallel, BLOCK
    for index in range(len(data)):
        if np.all(np.isnan(data[index])):
            parameters[:, index] = np.nan
            continue
        model = Line()
        model.slope, model.intercept = np.polyfit(x, data[index], 1)
        parameters[:, index] = model.slope, model.intercept


rng = np.random.default_rng(8)
np.random.seed(8)
points, series = rng.random((7, 2)), rng.random(12)
print(jackknife(series[:6]).tolist(), bootstrap(series, 5, np.mean).tolist())
print(
    ripley(rng.random(21), np.linspace(0, 1, 6)).tolist(),
    [part.tolist() for part in edge_distances(points, 0.0, 1.0)],
)
breaks, totals = np.array([0.0, 0.13, 0.42, 0.7, 1.0]), [1.0, 2.0, 0.5, 3.0]
print(weight_histogram(breaks, totals, 8).tolist(), weight_histogram_apart(breaks, totals, 8).tolist())
print(bls(np.arange(12.0), series, np.ones(12), [0.5, 1.0, 1.5, 2.0], 4.0))
print(scatter(rng.integers(0, 5, 9), rng.random((9, 4)) + 1j * rng.random((9, 4)), 5).tolist())
print(discretize(np.sin, np.linspace(0, 2, 8)).tolist(), chebyshev(np.linspace(-1, 1, 4), 5).tolist())
print(discretize_2d(lambda x, y: x * np.cos(y), np.linspace(0, 2, 6), np.linspace(0, 1, 5)).tolist())
data = rng.random((6, 5))
data[2] = np.nan
parameters, again = np.zeros((2, 6)), np.zeros((2, 6))
model = Line()
fit(model, np.arange(5.0), data, parameters)
fit_apart(np.arange(5.0), data, again)
print(parameters.tolist(), again.tolist(), model.slope)
