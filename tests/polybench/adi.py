"""The heat equation in two dimensions by alternating directions, implicit (PolyBench adi)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 20), "SMALL": (40, 60), "MEDIUM": (100, 200), "LARGE": (500, 1000)}


def initial(steps, n):
    u = np.fromfunction(lambda i, j: (i + n - j) / n, (n, n))
    return steps, u, np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))


def kernel(steps, u, v, p, q):
    n = u.shape[0]
    mul1 = 2.0 * (1.0 / steps) / ((1.0 / n) * (1.0 / n))
    mul2 = 1.0 * (1.0 / steps) / ((1.0 / n) * (1.0 / n))
    a, b, c = -mul1 / 2.0, 1.0 + mul1, -mul1 / 2.0
    d, e, f = -mul2 / 2.0, 1.0 + mul2, -mul2 / 2.0
    for _ in range(steps):
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (
                    -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]
                ) / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (
                    -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]
                ) / (d * p[i, j - 1] + e)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
    return u


if __name__ == "__main__":
    run(kernel, initial, SIZES)
