"""C = alpha A B' + alpha B A' + beta C, its lower triangle (PolyBench syr2k)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 30), "SMALL": (60, 80), "MEDIUM": (200, 240), "LARGE": (1000, 1200)}


def initial(m, n):
    A = np.fromfunction(lambda i, j: (i * j + 1) % n / n, (n, m))
    B = np.fromfunction(lambda i, j: (i * j + 2) % m / m, (n, m))
    C = np.fromfunction(lambda i, j: (i * j + 3) % n / m, (n, n))
    return 1.5, 1.2, C, A, B


def kernel(alpha, beta, C, A, B):
    n, m = A.shape
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]
    return C


if __name__ == "__main__":
    run(kernel, initial, SIZES)
