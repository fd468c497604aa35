"""A[r, q, :] = A[r, q, :] C, of multiresolution analysis (PolyBench doitgen)."""

import numpy as np
from harness import run

SIZES = {"MINI": (8, 10, 12), "SMALL": (20, 25, 30), "MEDIUM": (40, 50, 60), "LARGE": (140, 150, 160)}


def initial(nq, nr, np_):
    A = np.fromfunction(lambda r, q, p: (r * q + p) % np_ / np_, (nr, nq, np_))
    C4 = np.fromfunction(lambda s, p: s * p % np_ / np_, (np_, np_))
    return A, C4, np.zeros(np_)


def kernel(A, C4, total):
    nr, nq, n = A.shape
    # dlb: parallel, BLOCK, private(total), jit
    for r in range(nr):
        for q in range(nq):
            for p in range(n):
                total[p] = 0.0
                for s in range(n):
                    total[p] += A[r, q, s] * C4[s, p]
            for p in range(n):
                A[r, q, p] = total[p]
    return A


if __name__ == "__main__":
    run(kernel, initial, SIZES)
