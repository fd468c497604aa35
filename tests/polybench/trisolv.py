"""A triangular system by substitution (PolyBench trisolv); each x[j] is taken from all rows below at once.

Every element loses the same products in the same order as row by row.
"""

import numpy as np
from harness import run

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,)}


def initial(n):
    L = np.tril(np.fromfunction(lambda i, j: (i + n - j + 1) * 2 / n, (n, n)))
    return L, np.full(n, -999.0), np.arange(n) + 0.0


def kernel(L, x, b):
    n = len(x)
    for i in range(n):
        x[i] = b[i]
    for j in range(n):
        x[j] = x[j] / L[j, j]
        # dlb: parallel, BLOCK, jit
        for i in range(j + 1, n):
            x[i] -= L[i, j] * x[j]
    return x


def original(L, x, b):
    n = len(x)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]
    return x


if __name__ == "__main__":
    run(kernel, initial, SIZES)
