"""Averages of five neighbours, back and forth between two arrays (PolyBench jacobi-2d)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 30), "SMALL": (40, 90), "MEDIUM": (100, 250), "LARGE": (500, 1300)}


def initial(steps, n):
    A = np.fromfunction(lambda i, j: (i * (j + 2) + 2) / n, (n, n))
    B = np.fromfunction(lambda i, j: (i * (j + 3) + 3) / n, (n, n))
    return steps, A, B


def kernel(steps, A, B):
    n = A.shape[0]
    # dlb: iterate
    for _ in range(steps):
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])
    return A


if __name__ == "__main__":
    run(kernel, initial, SIZES)
