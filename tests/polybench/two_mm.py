"""D = alpha A B C + beta D (PolyBench 2mm)."""

import numpy as np
from harness import run

SIZES = {
    "MINI": (16, 18, 22, 24),
    "SMALL": (40, 50, 70, 80),
    "MEDIUM": (180, 190, 210, 220),
    "LARGE": (800, 900, 1100, 1200),
}


def initial(ni, nj, nk, nl):
    A = np.fromfunction(lambda i, j: (i * j + 1) % ni / ni, (ni, nk))
    B = np.fromfunction(lambda i, j: i * (j + 1) % nj / nj, (nk, nj))
    C = np.fromfunction(lambda i, j: (i * (j + 3) + 1) % nl / nl, (nj, nl))
    D = np.fromfunction(lambda i, j: i * (j + 2) % nk / nk, (ni, nl))
    return 1.5, 1.2, np.zeros((ni, nj)), A, B, C, D


def kernel(alpha, beta, tmp, A, B, C, D):
    ni, nj = tmp.shape
    nk, nl = A.shape[1], D.shape[1]
    # dlb: parallel, BLOCK, jit
    for i in range(ni):
        for j in range(nj):
            tmp[i, j] = 0.0
            for k in range(nk):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    # dlb: parallel, BLOCK, jit
    for i in range(ni):
        for j in range(nl):
            D[i, j] *= beta
            for k in range(nj):
                D[i, j] += tmp[i, k] * C[k, j]
    return D


if __name__ == "__main__":
    run(kernel, initial, SIZES)
