"""C = alpha A A' + beta C, its lower triangle (PolyBench syrk)."""

import numpy as np


def syrk(alpha, beta, c, a):
    # dlb: parallel, BLOCK
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]


c = np.fromfunction(lambda i, j: (i * j + 2) % 6 / 6, (9, 9))
syrk(1.5, 1.2, c, np.fromfunction(lambda i, j: (i * j + 1) % 9 / 9, (9, 6)))
print(c.tolist())
