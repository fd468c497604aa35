"""A cost that needs numpy takes it under the program's own name."""

import numpy as np

A = np.zeros((6, 4))
n, m = A.shape


def rows(A, n, m):
    # dlb: parallel
    for i in range(n):
        for j in range(i, m):
            A[i, j] = 1
    # dlb: parallel
    for i in range(1, n, 2):
        if i < 4:
            A[i, 0] += A[i, 1]


rows(A, n, m)
print(A)
