"""C = alpha A B + beta C (PolyBench gemm)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 25, 30), "SMALL": (60, 70, 80), "MEDIUM": (200, 220, 240), "LARGE": (1000, 1100, 1200)}


def initial(ni, nj, nk):
    C = np.fromfunction(lambda i, j: (i * j + 1) % ni / ni, (ni, nj))
    A = np.fromfunction(lambda i, k: i * (k + 1) % nk / nk, (ni, nk))
    B = np.fromfunction(lambda k, j: k * (j + 2) % nj / nj, (nk, nj))
    return 1.5, 1.2, C, A, B


def kernel(alpha, beta, C, A, B):
    ni, nj = C.shape
    nk = A.shape[1]
    # dlb: parallel, BLOCK, jit
    for i in range(ni):
        for j in range(nj):
            C[i, j] *= beta
        for k in range(nk):
            for j in range(nj):
                C[i, j] += alpha * A[i, k] * B[k, j]
    return C


if __name__ == "__main__":
    run(kernel, initial, SIZES)
