"""Product with a triangular matrix, columns in parallel (NPBench trmm)."""

import numpy as np


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        # dlb: parallel, BLOCK
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha


rng = np.random.default_rng(14)
b = rng.random((6, 9))
trmm(1.5, rng.random((6, 6)), b)
print(b.tolist())
