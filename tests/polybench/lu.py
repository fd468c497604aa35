"""LU decomposition without pivoting (PolyBench lu); row k of U is taken from all rows below it, step by step.

Every element loses the same products in the same order as row by row.
"""

import numpy as np
from harness import run

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,)}


def initial(n):
    L = np.tril(np.fromfunction(lambda i, j: 1.0 - j / n, (n, n)), -1) + np.eye(n)
    return (L @ L.T,)


def kernel(A):
    n = A.shape[0]
    # dlb: iterate
    for k in range(n - 1):
        # dlb: parallel, CYCLIC(A), jit
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return A


def original(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]
    return A


if __name__ == "__main__":
    run(kernel, initial, SIZES)
