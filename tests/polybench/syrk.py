"""C = alpha A A' + beta C, its lower triangle (PolyBench syrk)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 30), "SMALL": (60, 80), "MEDIUM": (200, 240), "LARGE": (1000, 1200)}


def initial(m, n):
    A = np.fromfunction(lambda i, j: (i * j + 1) % n / n, (n, m))
    return 1.5, 1.2, np.fromfunction(lambda i, j: (i * j + 2) % m / m, (n, n)), A


def kernel(alpha, beta, C, A):
    n, m = A.shape
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]
    return C


if __name__ == "__main__":
    run(kernel, initial, SIZES)
