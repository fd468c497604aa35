"""A system of linear equations by LU decomposition and substitution (PolyBench ludcmp)."""

import numpy as np
from harness import run

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,)}


def initial(n):
    L = np.tril(np.fromfunction(lambda i, j: 1.0 - j / n, (n, n)), -1) + np.eye(n)
    return L @ L.T, (np.arange(n) + 1.0) / n / 2.0 + 4.0, np.zeros(n), np.zeros(n)


def kernel(A, b, x, y):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        # dlb: parallel, BLOCK, jit
        for j in range(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]
    return x


if __name__ == "__main__":
    run(kernel, initial, SIZES)
