"""y = A' (A x) (PolyBench atax); the sums of A' by columns, which are independent, in a loop of their own."""

import numpy as np
from harness import run

SIZES = {"MINI": (38, 42), "SMALL": (116, 124), "MEDIUM": (390, 410), "LARGE": (1900, 2100)}


def initial(m, n):
    A = np.fromfunction(lambda i, j: (i + j) % n / (5 * m), (m, n))
    return A, 1.0 + np.arange(n) / n, np.zeros(n), np.zeros(m)


def kernel(A, x, y, tmp):
    m, n = A.shape
    # dlb: parallel, BLOCK, jit
    for i in range(m):
        tmp[i] = 0.0
        for j in range(n):
            tmp[i] = tmp[i] + A[i, j] * x[j]
    # dlb: parallel, BLOCK, jit
    for j in range(n):
        y[j] = 0.0
        for i in range(m):
            y[j] = y[j] + A[i, j] * tmp[i]
    return y


def original(A, x, y, tmp):
    m, n = A.shape
    for j in range(n):
        y[j] = 0.0
    for i in range(m):
        tmp[i] = 0.0
        for j in range(n):
            tmp[i] = tmp[i] + A[i, j] * x[j]
        for j in range(n):
            y[j] = y[j] + A[i, j] * tmp[i]
    return y


if __name__ == "__main__":
    run(kernel, initial, SIZES)
