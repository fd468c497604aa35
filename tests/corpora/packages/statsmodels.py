"""Statistics (statsmodels: nonparametric, stats, tsa)."""

import numpy as np


def kernel(width, data, at):
    return float(np.exp(-(((data - at) / width) ** 2).sum(axis=1)).sum())


def density(data, width, predict):
    """KDEMultivariate.pdf: the estimates in a list."""
    estimates = []
    # dlb: parallel, BLOCK
    for i in range(np.shape(predict)[0]):
        estimates.append(kernel(width, data, predict[i, :]) / len(data))
    return np.squeeze(estimates)


class KernelReg:
    """KernelReg.fit: an estimator that is looked up, at each point."""

    def __init__(self, endog, exog, width):
        self.endog, self.exog, self.bw = endog, exog, width
        self.est = {"lc": self._constant, "ll": self._linear}

    def _constant(self, width, endog, exog, at):
        weights = np.exp(-(((exog - at) / width) ** 2).sum(axis=1))
        return weights @ endog / weights.sum(), np.zeros(exog.shape[1])

    def _linear(self, width, endog, exog, at):
        weights = np.exp(-(((exog - at) / width) ** 2).sum(axis=1))
        design = np.column_stack([np.ones(len(exog)), exog - at])
        found = np.linalg.solve(design.T @ (weights[:, None] * design), design.T @ (weights * endog))
        return found[0], found[1:]

    def fit(self, predict, kind):
        func = self.est[kind]
        count = np.shape(predict)[0]
        mean, mfx = np.empty((count,)), np.empty((count, self.exog.shape[1]))
        # dlb: parallel, BLOCK
        for i in range(count):
            found = func(self.bw, self.endog, self.exog, predict[i, :])
            mean[i] = np.squeeze(found[0])
            mfx[i, :] = np.squeeze(found[1])
        return mean, mfx


def lowess(x, y, k):
    """smoothers_lowess_old: the window of neighbours moves on from point to point."""
    fitted = np.zeros(len(x))
    window = [0, k]
    design = np.ones((k, 2))
    # Not legal: the window of each point is moved on from that of the point before.
    # dlb: parallel, BLOCK
    for i in range(len(x)):
        design[:, 1] = x[window[0] : window[1]]
        beta = np.linalg.lstsq(design, y[window[0] : window[1]], rcond=-1)[0]
        fitted[i] = beta[0] + beta[1] * x[i]
        while window[1] < len(x) and i + 1 < len(x) and x[window[1]] - x[i + 1] < x[i + 1] - x[window[0]]:
            window[0] += 1
            window[1] += 1
    return fitted


def bootstrap(rng, endog, exog, count):
    """OaxacaBlinder.variance: resamples drawn from one generator, effects in lists."""
    effects = []
    # Not legal: each iteration draws from where the one before left the generator.
    # dlb: parallel, BLOCK
    for _ in range(count):
        rows = rng.integers(0, high=len(endog), size=len(endog))
        effects.append(np.linalg.lstsq(exog[rows], endog[rows], rcond=None)[0])
    return effects


def bootstrap_apart(seeds, endog, exog):
    """The same with a generator for each resample."""
    effects = []
    # dlb: parallel, BLOCK
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, high=len(endog), size=len(endog))
        effects.append(np.linalg.lstsq(exog[rows], endog[rows], rcond=None)[0])
    return effects


def hac(x, lags):
    """sandwich_covariance.S_hac_simple: a sum over lags."""
    weights = 1 - np.arange(lags + 1) / (lags + 1.0)
    s = weights[0] * np.dot(x.T, x)
    # dlb: parallel, BLOCK
    for lag in range(1, lags + 1):
        part = np.dot(x[lag:].T, x[:-lag])
        s += weights[lag] * (part + part.T)
    return s


def medcouple_values(left, right, above, below):
    """stattools._medcouple_nlogn: as many values as each row has, one after another in an array."""
    values = np.empty(sum(r - f + 1 for f, r in zip(left, right)))
    position = 0
    # Not legal: where a row begins is counted over iterations (sums of lengths before the loop would do).
    # dlb: parallel, BLOCK
    for i in range(len(left)):
        for j in range(left[i], right[i] + 1):
            values[position] = (above[i] + below[j]) / (above[i] - below[j])
            position += 1
    return values


def inverse_rows(rows, weights):
    """regularized_covariance._calc_approx_inv_cov: each row around its diagonal."""
    p = len(weights)
    result = -np.eye(p)
    # dlb: parallel, BLOCK
    for idx in range(p):
        others = list(range(p))
        others.pop(idx)
        result[idx, others] = rows[idx]
    return result * (-1 / weights[:, None] ** 2)


def band_pass(x, low, high):
    """tsa.filters.cffilter: Christiano and Fitzgerald's filter, with slices that differ in length."""
    count = len(x)
    j = np.arange(1, count + 1)
    b = (np.sin(high * j) - np.sin(low * j)) / (np.pi * j)
    b = np.r_[(high - low) / np.pi, b][:, None]
    y = np.zeros((count, 1))
    # dlb: parallel, BLOCK
    for i in range(count):
        right = -0.5 * b[0] - np.sum(b[1 : -i - 2])
        left = -b[0] - np.sum(b[1 : -i - 2]) - np.sum(b[1:i]) - right
        ahead = np.dot(b[1 : -i - 2].T, x[i + 1 : -1]) + right * x[-1]
        y[i] = b[0] * x[i] + ahead + np.dot(b[1:i].T, x[1:i][::-1]) + left * x[0]
    return y.squeeze()


def autocovariance_system(ar, ma, coefficients, m):
    """arima_process.arma_acovf: the rows of a system."""
    a, b = np.zeros((m, m)), np.zeros((m, 1))
    padded = np.zeros(m)
    padded[: len(ar)] = ar
    # dlb: parallel, BLOCK
    for k in range(m):
        a[k, : (k + 1)] = padded[: (k + 1)][::-1]
        a[k, 1 : m - k] += padded[(k + 1) : m]
        b[k] = np.dot(ma[k : len(ma)], coefficients[: max((len(ma) - k), 0)])
    return np.linalg.solve(a, b)[:, 0]


def levinson_durbin(pacf):
    """stattools.levinson_durbin_pacf: each order is computed from the one before."""
    n = pacf.shape[0]
    acf = np.zeros(n + 1)
    acf[0], acf[1] = 1, pacf[0]
    nu = np.cumprod(1 - pacf**2)
    coefficients = pacf.copy()
    # Not legal: each order is computed from the coefficients of the one before.
    # dlb: parallel, BLOCK
    for i in range(1, n):
        prev = coefficients[: -(n - i)].copy()
        coefficients[: -(n - i)] = prev - coefficients[i] * prev[::-1]
        acf[i + 1] = coefficients[i] * nu[i - 1] + prev.dot(acf[1 : -(n - i)][::-1])
    return acf


def rows_of_groups(labels):
    """correlation_tools.kernel_covariance: the rows of each group."""
    rows = {}
    # Legal, but `rows` is read: `rows.setdefault(g, []).append(i)` would do
    # dlb: parallel, BLOCK
    for i, g in enumerate(labels):
        if g not in rows:
            rows[g] = []
        rows[g].append(i)
    return rows


rng = np.random.default_rng(7)
exog, endog = rng.random((14, 2)), rng.random(14)
print(density(exog, 0.3, rng.random((6, 2))).tolist())
for kind in ("lc", "ll"):
    print([part.tolist() for part in KernelReg(endog, exog, 0.5).fit(rng.random((5, 2)), kind)])
print(lowess(np.sort(rng.random(9)), rng.random(9), 4).tolist())
print(bootstrap(rng, endog, exog, 4), bootstrap_apart(range(4), endog, exog))
print(hac(rng.random((12, 2)), 5).tolist())
print(medcouple_values([0, 1, 0], [2, 2, 1], [0.5, 0.7, 0.9], [-0.1, -0.4, -0.6]).tolist())
print(inverse_rows(rng.random((5, 4)), rng.random(5)).tolist())
print(band_pass(rng.random(12), 0.2, 1.0).tolist())
print(autocovariance_system([1, -0.5, 0.2], np.array([1, 0.4]), np.array([1, 0.9]), 4).tolist())
print(levinson_durbin(np.array([0.5, -0.2, 0.1, 0.3])).tolist())
print(rows_of_groups(["b", "a", "b", "c", "a", "b"]))
