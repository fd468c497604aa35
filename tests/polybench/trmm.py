"""B = alpha A' B with A triangular, its diagonal 1 (PolyBench trmm)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 30), "SMALL": (60, 80), "MEDIUM": (200, 240), "LARGE": (1000, 1200)}


def initial(m, n):
    A = np.fromfunction(lambda i, j: (i + j) % m / m, (m, m))
    np.fill_diagonal(A, 1.0)
    return 1.5, A, np.fromfunction(lambda i, j: (n + (i - j)) % n / n, (m, n))


def kernel(alpha, A, B):
    m, n = B.shape
    for i in range(m):
        # dlb: parallel, BLOCK, jit
        for j in range(n):
            for k in range(i + 1, m):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]
    return B


if __name__ == "__main__":
    run(kernel, initial, SIZES)
