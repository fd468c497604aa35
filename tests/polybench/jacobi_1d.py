"""Averages of three neighbours, back and forth between two arrays (PolyBench jacobi-1d)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 30), "SMALL": (40, 120), "MEDIUM": (100, 400), "LARGE": (500, 2000)}


def initial(steps, n):
    return steps, (np.arange(n) + 2.0) / n, (np.arange(n) + 3.0) / n


def kernel(steps, A, B):
    n = len(A)
    # dlb: iterate
    for _ in range(steps):
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])
    return A


if __name__ == "__main__":
    run(kernel, initial, SIZES)
