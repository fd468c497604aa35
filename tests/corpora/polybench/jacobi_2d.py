"""Averages of five neighbours, from one array into another and back (PolyBench jacobi-2d)."""

import numpy as np


def jacobi(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, 1 + j] + a[1 + i, j] + a[i - 1, j])
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, 1 + j] + b[1 + i, j] + b[i - 1, j])


n = 10
a = np.fromfunction(lambda i, j: (i * (j + 2) + 2) / n, (n, n))
jacobi(2, a, np.fromfunction(lambda i, j: (i * (j + 3) + 3) / n, (n, n)))
print(a.tolist())
