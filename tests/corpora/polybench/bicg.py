"""q = A p and s = A' r, of the biconjugate gradient method (PolyBench bicg)."""

import numpy as np


def bicg(a, s, q, p, r):
    s[:] = 0.0
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        q[i] = 0.0
        for j in range(a.shape[1]):
            s[j] = s[j] + r[i] * a[i, j]
            q[i] = q[i] + a[i, j] * p[j]


a = np.fromfunction(lambda i, j: i * (j + 1) % 9 / 9, (9, 7))
s, q = np.empty(7), np.empty(9)
bicg(a, s, q, np.arange(7) % 7 / 7, np.arange(9) % 9 / 9)
print(s.tolist(), q.tolist())
