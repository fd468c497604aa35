"""C = alpha (A B' + B A') + beta C, its lower triangle (PolyBench syr2k)."""

import numpy as np


def syr2k(alpha, beta, c, a, b):
    # dlb: parallel, BLOCK
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k]


c = np.fromfunction(lambda i, j: (i * j + 3) % 9 / 6, (9, 9))
a, b = (np.fromfunction(lambda i, j, k=k: (i * j + k) % 9 / 9, (9, 6)) for k in (1, 2))
syr2k(1.5, 1.2, c, a, b)
print(c.tolist())
