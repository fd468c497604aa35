"""The correlation of columns (PolyBench correlation)."""

import math

import numpy as np
from harness import run

SIZES = {"MINI": (28, 32), "SMALL": (80, 100), "MEDIUM": (240, 260), "LARGE": (1200, 1400)}


def initial(m, n):
    data = np.fromfunction(lambda i, j: i * j / m + i, (n, m))
    return float(n), data, np.zeros((m, m)), np.zeros(m), np.zeros(m)


def kernel(count, data, corr, mean, stddev):
    n, m = data.shape
    # dlb: parallel, BLOCK, jit
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= count
    # dlb: parallel, BLOCK, jit
    for j in range(m):
        stddev[j] = 0.0
        for i in range(n):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= count
        stddev[j] = math.sqrt(stddev[j])
        if stddev[j] <= 0.1:
            stddev[j] = 1.0
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(count) * stddev[j]
    # dlb: parallel, BLOCK, jit
    for i in range(m - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[m - 1, m - 1] = 1.0
    return corr


if __name__ == "__main__":
    run(kernel, initial, SIZES)
