"""x += A y and z += A' w (PolyBench mvt)."""

import numpy as np


def mvt(a, first, second, y, w):
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            first[i] = first[i] + a[i, j] * y[j]
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            second[i] = second[i] + a[j, i] * w[j]


n = 9
first, second = np.arange(n) / n, (np.arange(n) + 1) % n / n
mvt(np.fromfunction(lambda i, j: i * j % n / n, (n, n)), first, second, np.arange(n) / 3, np.arange(n) / 7)
print(first.tolist(), second.tolist())
