"""QR decomposition by the modified Gram-Schmidt process (PolyBench gramschmidt), on tall matrices."""

import math

import numpy as np
from harness import run

SIZES = {"MINI": (30, 20), "SMALL": (80, 60), "MEDIUM": (240, 200), "LARGE": (1200, 1000)}


def initial(m, n):
    A = np.fromfunction(lambda i, j: (i * j) % m / m * 100 + 10, (m, n))
    return A, np.zeros((n, n)), np.zeros((m, n))


def kernel(A, R, Q):
    m, n = A.shape
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(norm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        # dlb: parallel, BLOCK, jit
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]
    return A, R, Q


if __name__ == "__main__":
    run(kernel, initial, SIZES)
