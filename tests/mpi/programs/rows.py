"""Rows in blocks, a whole array read by all, temporaries and the loop variable used afterwards."""

import numpy as np

rng = np.random.default_rng(1)
n, m, r = 37, 11, 13
X = rng.random((n, r))
Y = rng.random((r, m))
Z = np.zeros((n, m))

# dlb: parallel, BLOCK
for i in range(n):
    total = 0.0
    for j in range(m):
        for k in range(r):
            Z[i, j] += X[i, k] * Y[k, j]
        total += Z[i, j]

print(i, j, k, total.hex())
print(Z.tobytes().hex()[:64], float(Z[-1, -1]).hex())
