"""x1 = x1 + A y1 and x2 = x2 + A' y2 (PolyBench mvt)."""

import numpy as np
from harness import run

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,)}


def initial(n):
    A = np.fromfunction(lambda i, j: i * j % n / n, (n, n))
    return *((np.arange(n) + k) % n / n for k in (0, 1, 3, 4)), A


def kernel(x1, x2, y1, y2, A):
    n = A.shape[0]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(n):
            x1[i] = x1[i] + A[i, j] * y1[j]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(n):
            x2[i] = x2[i] + A[j, i] * y2[j]
    return x1, x2


if __name__ == "__main__":
    run(kernel, initial, SIZES)
