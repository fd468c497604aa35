"""B = alpha A' B with A triangular (PolyBench trmm)."""

import numpy as np


def trmm(alpha, a, b):
    # Not legal: iteration i reads the rows below, which later iterations store to.
    # dlb: parallel, BLOCK
    for i in range(b.shape[0]):
        # dlb: parallel, BLOCK
        for j in range(b.shape[1]):
            for k in range(i + 1, b.shape[0]):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]


b = np.fromfunction(lambda i, j: (9 + i - j) % 9 / 9, (7, 9))
trmm(1.5, np.fromfunction(lambda i, j: (i + j) % 7 / 7, (7, 7)), b)
print(b.tolist())
