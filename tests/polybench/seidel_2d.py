"""Averages of nine neighbours, in place (PolyBench seidel-2d); no loop of it is parallel."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 40), "SMALL": (40, 120), "MEDIUM": (100, 400), "LARGE": (500, 2000)}


def initial(steps, n):
    return steps, np.fromfunction(lambda i, j: (i * (j + 2) + 2) / n, (n, n))


def kernel(steps, A):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                above = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                here = A[i, j - 1] + A[i, j] + A[i, j + 1]
                below = A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                A[i, j] = (above + here + below) / 9.0
    return A


if __name__ == "__main__":
    run(kernel, initial, SIZES)
