"""C = alpha A B + beta C with A symmetric (PolyBench symm)."""

import numpy as np


def symm(alpha, beta, c, a, b):
    # Not legal: row i is stored to by every later iteration too.
    # dlb: parallel, BLOCK
    for i in range(c.shape[0]):
        # dlb: parallel, BLOCK
        for j in range(c.shape[1]):
            above = 0.0
            for k in range(i):
                c[k, j] += alpha * b[i, j] * a[i, k]
                above += b[k, j] * a[i, k]
            c[i, j] = beta * c[i, j] + alpha * b[i, j] * a[i, i] + alpha * above


c = np.fromfunction(lambda i, j: (i + j) % 100 / 7, (7, 9))
a = np.fromfunction(lambda i, j: (i + j) % 100 / 7, (7, 7))
symm(1.5, 1.2, c, a, np.fromfunction(lambda i, j: (9 + i - j) % 100 / 7, (7, 9)))
print(c.tolist())
