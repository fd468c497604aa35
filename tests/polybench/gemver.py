"""A += u1 v1' + u2 v2', x = x + beta A' y + z, w = w + alpha A x (PolyBench gemver)."""

import numpy as np
from harness import run

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,)}


def initial(n):
    A = np.fromfunction(lambda i, j: i * j % n / n, (n, n))
    first, (u2, v1, v2, y, z) = (
        np.arange(n) + 0.0,
        ((np.arange(n) + 1) / n / k for k in (2.0, 4.0, 6.0, 8.0, 9.0)),
    )
    return 1.5, 1.2, A, first, v1, u2, v2, np.zeros(n), np.zeros(n), y, z


def kernel(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    n = A.shape[0]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * A[j, i] * y[j]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        x[i] = x[i] + z[i]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * A[i, j] * x[j]
    return A, x, w


if __name__ == "__main__":
    run(kernel, initial, SIZES)
