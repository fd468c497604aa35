"""Product with a symmetric matrix, columns in parallel (NPBench symm)."""

import numpy as np


def symm(alpha, beta, c, a, b):
    below = np.empty((c.shape[1],), dtype=c.dtype)
    c *= beta
    for i in range(c.shape[0]):
        # dlb: parallel, BLOCK
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            below[j] = b[:i, j] @ a[i, :i]
        c[i, :] += alpha * b[i, :] * a[i, i] + alpha * below


rng = np.random.default_rng(13)
c = rng.random((7, 9))
symm(1.5, 1.2, c, rng.random((7, 7)), rng.random((7, 9)))
print(c.tolist())
