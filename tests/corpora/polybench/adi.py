"""Alternating directions, implicit, for the heat equation in two dimensions (PolyBench adi)."""

import numpy as np


def adi(steps, u):
    n = u.shape[0]
    v, p, q = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    a, b, c = -0.4, 1.8, -0.4
    for _ in range(steps):
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = 0.3 * u[j, i - 1] + 0.4 * u[j, i] + 0.3 * u[j, i + 1] - a * q[i, j - 1]
                q[i, j] /= a * p[i, j - 1] + b
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = 0.3 * v[i - 1, j] + 0.4 * v[i, j] + 0.3 * v[i + 1, j] - a * q[i, j - 1]
                q[i, j] /= a * p[i, j - 1] + b
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


u = np.fromfunction(lambda i, j: (i + 9 - j) / 9, (9, 9))
adi(2, u)
print(u.tolist())
