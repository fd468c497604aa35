"""C = alpha A B + beta C with A symmetric, its lower triangle given (PolyBench symm)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 30), "SMALL": (60, 80), "MEDIUM": (200, 240), "LARGE": (1000, 1200)}


def initial(m, n):
    C = np.fromfunction(lambda i, j: (i + j) % 100 / m, (m, n))
    A = np.fromfunction(lambda i, j: np.where(j <= i, (i + j) % 100 / m, -999.0), (m, m))
    B = np.fromfunction(lambda i, j: (n + i - j) % 100 / m, (m, n))
    return 1.5, 1.2, C, A, B


def kernel(alpha, beta, C, A, B):
    m, n = C.shape
    for i in range(m):
        # dlb: parallel, BLOCK, jit
        for j in range(n):
            above = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                above += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * above
    return C


if __name__ == "__main__":
    run(kernel, initial, SIZES)
