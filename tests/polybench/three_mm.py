"""G = (A B) (C D) (PolyBench 3mm)."""

import numpy as np
from harness import run

SIZES = {
    "MINI": (16, 18, 20, 22, 24),
    "SMALL": (40, 50, 60, 70, 80),
    "MEDIUM": (180, 190, 200, 210, 220),
    "LARGE": (800, 900, 1000, 1100, 1200),
}


def initial(ni, nj, nk, nl, nm):
    A = np.fromfunction(lambda i, j: (i * j + 1) % ni / (5 * ni), (ni, nk))
    B = np.fromfunction(lambda i, j: (i * (j + 1) + 2) % nj / (5 * nj), (nk, nj))
    C = np.fromfunction(lambda i, j: i * (j + 3) % nl / (5 * nl), (nj, nm))
    D = np.fromfunction(lambda i, j: (i * (j + 2) + 2) % nk / (5 * nk), (nm, nl))
    return np.zeros((ni, nj)), A, B, np.zeros((nj, nl)), C, D, np.zeros((ni, nl))


def kernel(E, A, B, F, C, D, G):
    ni, nj = E.shape
    nl = G.shape[1]
    nk, nm = A.shape[1], C.shape[1]
    # dlb: parallel, BLOCK, jit
    for i in range(ni):
        for j in range(nj):
            E[i, j] = 0.0
            for k in range(nk):
                E[i, j] += A[i, k] * B[k, j]
    # dlb: parallel, BLOCK, jit
    for i in range(nj):
        for j in range(nl):
            F[i, j] = 0.0
            for k in range(nm):
                F[i, j] += C[i, k] * D[k, j]
    # dlb: parallel, BLOCK, jit
    for i in range(ni):
        for j in range(nl):
            G[i, j] = 0.0
            for k in range(nj):
                G[i, j] += E[i, k] * F[k, j]
    return G


if __name__ == "__main__":
    run(kernel, initial, SIZES)
