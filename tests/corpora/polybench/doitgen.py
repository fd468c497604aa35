"""A[r, q, :] = A[r, q, :] C, of multiresolution analysis (PolyBench doitgen)."""

import numpy as np


def doitgen(a, c, total):
    # dlb: parallel, BLOCK, private(total)
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            for p in range(a.shape[2]):
                total[p] = 0.0
                for s in range(a.shape[2]):
                    total[p] += a[r, q, s] * c[s, p]
            for p in range(a.shape[2]):
                a[r, q, p] = total[p]


a = np.fromfunction(lambda r, q, p: (r * q + p) % 6 / 6, (8, 5, 6))
doitgen(a, np.fromfunction(lambda s, p: s * p % 6 / 6, (6, 6)), np.empty(6))
print(a.tolist())
