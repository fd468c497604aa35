"""The heat equation in three dimensions (PolyBench heat-3d)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 10), "SMALL": (40, 20), "MEDIUM": (100, 40), "LARGE": (500, 120)}


def initial(steps, n):
    A = np.fromfunction(lambda i, j, k: (i + j + (n - k)) * 10 / n, (n, n, n))
    return steps, A, A.copy()


def kernel(steps, A, B):
    n = A.shape[0]
    # dlb: iterate
    for _ in range(1, steps + 1):
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )
    return A


if __name__ == "__main__":
    run(kernel, initial, SIZES)
