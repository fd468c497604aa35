"""s = A' r and q = A p (PolyBench bicg); the sums of s, which are independent, in a loop of their own."""

import numpy as np
from harness import run

SIZES = {"MINI": (38, 42), "SMALL": (116, 124), "MEDIUM": (390, 410), "LARGE": (1900, 2100)}


def initial(m, n):
    A = np.fromfunction(lambda i, j: i * (j + 1) % n / n, (n, m))
    return A, np.zeros(m), np.zeros(n), np.arange(m) % m / m, np.arange(n) % n / n


def kernel(A, s, q, p, r):
    n, m = A.shape
    # dlb: parallel, BLOCK, jit
    for j in range(m):
        s[j] = 0.0
        for i in range(n):
            s[j] = s[j] + r[i] * A[i, j]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            q[i] = q[i] + A[i, j] * p[j]
    return s, q


def original(A, s, q, p, r):
    n, m = A.shape
    for j in range(m):
        s[j] = 0.0
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            s[j] = s[j] + r[i] * A[i, j]
            q[i] = q[i] + A[i, j] * p[j]
    return s, q


if __name__ == "__main__":
    run(kernel, initial, SIZES)
