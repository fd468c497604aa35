"""The covariance of columns (PolyBench covariance)."""

import numpy as np
from harness import run

SIZES = {"MINI": (28, 32), "SMALL": (80, 100), "MEDIUM": (240, 260), "LARGE": (1200, 1400)}


def initial(m, n):
    data = np.fromfunction(lambda i, j: i * j / m, (n, m))
    return float(n), data, np.zeros((m, m)), np.zeros(m)


def kernel(count, data, cov, mean):
    n, m = data.shape
    # dlb: parallel, BLOCK, jit
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= count
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
    # dlb: parallel, BLOCK, jit
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = 0.0
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= count - 1.0
            cov[j, i] = cov[i, j]
    return cov


if __name__ == "__main__":
    run(kernel, initial, SIZES)
