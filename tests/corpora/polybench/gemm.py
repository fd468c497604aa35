"""C = alpha A B + beta C (PolyBench gemm)."""

import numpy as np


def gemm(alpha, beta, c, a, b):
    # dlb: parallel, BLOCK
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]


c = np.fromfunction(lambda i, j: (i * j + 1) % 9 / 9, (9, 7))
a = np.fromfunction(lambda i, k: i * (k + 1) % 8 / 8, (9, 8))
gemm(1.5, 1.2, c, a, np.fromfunction(lambda k, j: k * (j + 2) % 7 / 7, (8, 7)))
print(c.tolist())
