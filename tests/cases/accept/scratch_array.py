import numpy as np


def run(X, Z):
    n, m = X.shape
    scratch = np.zeros(m)
    # dlb: parallel, private(scratch)
    for i in range(n):
        for j in range(m):
            scratch[j] = X[i, j] * 2
        Z[i] = scratch[::-1].sum()


Z = np.zeros(4)
run(np.ones((4, 3)), Z)
print(Z)
