"""Cholesky decomposition (PolyBench cholesky); column k of L, then all elements behind it, lose its products.

Every element loses the same products in the same order as row by row.
"""

import math

import numpy as np
from harness import run

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,)}


def initial(n):
    L = np.tril(np.fromfunction(lambda i, j: 1.0 - j / n, (n, n)), -1) + np.eye(n)
    return (L @ L.T,)


def kernel(A):
    n = A.shape[0]
    column = np.zeros(n)
    for k in range(n):
        A[k, k] = math.sqrt(A[k, k])
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            column[i] = A[i, k]
        # dlb: parallel, BLOCK(A), WHOLE(column), jit
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                A[i, j] -= A[i, k] * column[j]
    return A


def original(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = math.sqrt(A[i, i])
    return A


if __name__ == "__main__":
    run(kernel, initial, SIZES)
