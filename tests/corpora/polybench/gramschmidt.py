"""QR decomposition by the modified Gram-Schmidt process (PolyBench gramschmidt)."""

import numpy as np


def decompose(a, r, q):
    # Not legal: column k needs the projections on all columns before it.
    # dlb: parallel, BLOCK
    for k in range(a.shape[1]):
        norm = 0.0
        # dlb: parallel, BLOCK
        for i in range(a.shape[0]):
            norm += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(norm)
        # dlb: parallel, BLOCK
        for i in range(a.shape[0]):
            q[i, k] = a[i, k] / r[k, k]
        # dlb: parallel, BLOCK
        for j in range(k + 1, a.shape[1]):
            r[k, j] = 0.0
            for i in range(a.shape[0]):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(a.shape[0]):
                a[i, j] = a[i, j] - q[i, k] * r[k, j]


a = np.fromfunction(lambda i, j: (i * j) % 9 / 9 * 100 + 10 + (i == j), (9, 6))
r, q = np.zeros((6, 6)), np.zeros((9, 6))
decompose(a, r, q)
print(r.tolist(), q.tolist())
