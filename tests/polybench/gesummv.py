"""y = alpha A x + beta B x (PolyBench gesummv)."""

import numpy as np
from harness import run

SIZES = {"MINI": (30,), "SMALL": (90,), "MEDIUM": (250,), "LARGE": (1300,)}


def initial(n):
    A = np.fromfunction(lambda i, j: (i * j + 1) % n / n, (n, n))
    B = np.fromfunction(lambda i, j: (i * j + 2) % n / n, (n, n))
    return 1.5, 1.2, A, B, np.zeros(n), np.arange(n) % n / n, np.zeros(n)


def kernel(alpha, beta, A, B, tmp, x, y):
    n = A.shape[0]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(n):
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]
    return y


if __name__ == "__main__":
    run(kernel, initial, SIZES)
