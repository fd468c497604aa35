"""y = A' (A x) (PolyBench atax)."""

import numpy as np


def atax(a, x, y):
    y[:] = 0.0
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        product = 0.0
        for j in range(a.shape[1]):
            product = product + a[i, j] * x[j]
        for j in range(a.shape[1]):
            y[j] = y[j] + a[i, j] * product


y = np.empty(7)
atax(np.fromfunction(lambda i, j: (i + j) % 7 / 45, (9, 7)), 1 + np.arange(7) / 7, y)
print(y.tolist())
