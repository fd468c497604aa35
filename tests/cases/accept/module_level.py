"""A product of matrices, with a docstring and a future import ahead of everything."""

from __future__ import annotations

import numpy as np

n, m, r = 5, 4, 3
X = np.ones((n, r))
Y = np.ones((r, m))
Z = np.zeros((n, m))

# The product.
# dlb: parallel, BLOCK
for i in range(n):
    for j in range(m):
        for k in range(r):
            Z[i, j] += X[i, k] * Y[k, j]
print(Z.sum())
