import numpy as np

n = 8
X, Y, Z = np.ones((n, n)), np.ones((n, n)), np.zeros((n, n))
# dlb: parallel, BLOCK, WHOLE(Y), jit(as_written)
for i in range(n):
    for j in range(n):  # all columns
        for k in range(n):
            Z[i, j] += X[i, k] * Y[k, j]
