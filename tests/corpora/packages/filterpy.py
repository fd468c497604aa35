"""Kalman filters (filterpy: sigma_points, ensemble_kalman_filter, UKF, IMM)."""

import numpy as np


class SigmaPoints:
    """MerweScaledSigmaPoints: points about a mean."""

    def __init__(self, n, subtract=None):
        self.n = n
        self.subtract = np.subtract if subtract is None else subtract

    def sigma_points(self, x, p):
        n = self.n
        u = np.linalg.cholesky((n + 1) * p).T
        sigmas = np.zeros((2 * n + 1, n))
        sigmas[0] = x
        # Legal, but `subtract` of an object is taken for the method of counters, which changes them
        # dlb: parallel, BLOCK
        for k in range(n):
            sigmas[k + 1] = self.subtract(x, -u[k])
            sigmas[n + k + 1] = self.subtract(x, u[k])
        return sigmas


class Ensemble:
    """EnsembleKalmanFilter: each sample through the functions of the user."""

    def __init__(self, sigmas, fx, hx):
        self.sigmas = sigmas
        self.fx = fx
        self.hx = hx

    def predict(self, dt):
        # Legal, but `self.fx` may read all of self: `fx = self.fx` before the loop would do
        # dlb: parallel, BLOCK
        for i, s in enumerate(self.sigmas):
            self.sigmas[i] = self.fx(s, dt)

    def update(self, z, noise):
        count = len(self.sigmas)
        seen = np.zeros((count, len(z)))
        # dlb: parallel, BLOCK
        for i in range(count):
            seen[i] = self.hx(self.sigmas[i])
        gain = np.cov(self.sigmas.T)[:, : len(z)]
        # dlb: parallel, BLOCK
        for i in range(count):
            self.sigmas[i] += np.dot(gain, z + noise[i] - seen[i])


class Unscented:
    """UnscentedKalmanFilter.cross_variance."""

    def __init__(self, weights):
        self.wc = weights
        self.residual_x = np.subtract
        self.residual_z = np.subtract

    def cross_variance(self, x, z, sigmas_f, sigmas_h):
        pxz = np.zeros((sigmas_f.shape[1], sigmas_h.shape[1]))
        # dlb: parallel, BLOCK
        for i in range(sigmas_f.shape[0]):
            dx = self.residual_x(sigmas_f[i], x)
            dz = self.residual_z(sigmas_h[i], z)
            pxz += self.wc[i] * np.outer(dx, dz)
        return pxz


class Filter:
    """A filter of the bank, with its state."""

    def __init__(self, x, p):
        self.x = x
        self.P = p

    def predict(self, u):
        self.x = self.x * 0.5 + u
        self.P = self.P * 0.25


class Bank:
    """IMMEstimator: filters that are mixed, then go on one by one."""

    def __init__(self, filters, omega, mu):
        self.filters = filters
        self.omega = omega
        self.mu = mu
        self.x = np.zeros(2)
        self.P = np.zeros((2, 2))

    def predict(self, u):
        xs, ps = [], []
        # dlb: parallel, BLOCK
        for f, w in zip(self.filters, self.omega.T):
            x = np.zeros(self.x.shape)
            for kf, wj in zip(self.filters, w):
                x += kf.x * wj
            xs.append(x)
            p = np.zeros(self.P.shape)
            for kf, wj in zip(self.filters, w):
                y = kf.x - x
                p += wj * (np.outer(y, y) + kf.P)
            ps.append(p)
        # dlb: parallel, BLOCK
        for i, f in enumerate(self.filters):
            f.x = xs[i].copy()
            f.P = ps[i].copy()
            f.predict(u)
        # dlb: parallel, BLOCK
        for f, mu in zip(self.filters, self.mu):
            self.x += f.x * mu
        # dlb: parallel, BLOCK
        for f, mu in zip(self.filters, self.mu):
            y = f.x - self.x
            self.P += mu * (np.outer(y, y) + f.P)


rng = np.random.default_rng(2)
print(SigmaPoints(4).sigma_points(np.arange(4.0), np.eye(4) + 0.1).tolist())
ensemble = Ensemble(rng.random((9, 3)), lambda s, dt: s + dt * np.sin(s), lambda s: s[:2] ** 2)
ensemble.predict(0.1)
ensemble.update(np.array([0.3, 0.4]), rng.random((9, 2)))
print(ensemble.sigmas.tolist())
print(
    Unscented(rng.random(8))
    .cross_variance(np.ones(3), np.ones(2), rng.random((8, 3)), rng.random((8, 2)))
    .tolist()
)
filters = [Filter(rng.random(2), np.eye(2) * (k + 1)) for k in range(5)]
bank = Bank(filters, rng.random((5, 5)), rng.random(5))
bank.predict(0.25)
print(bank.x.tolist(), bank.P.tolist(), [f.x.tolist() for f in filters])
