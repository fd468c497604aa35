"""Cholesky decomposition, row by row (PolyBench cholesky)."""

import numpy as np


def decompose(a):
    # Not legal: row i needs the rows above, already decomposed.
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        # Not legal: element j needs the elements before it in the row.
        # dlb: parallel, BLOCK
        for j in range(i):
            # Legal, but other elements of the array are read: a sum in a name would do
            # dlb: parallel, BLOCK
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        # Legal, but other elements of the array are read: a sum in a name would do
        # dlb: parallel, BLOCK
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


n = 8
a = np.fromfunction(lambda i, j: (i + j) % n / n, (n, n))
a = a @ a.T + n * np.eye(n)
decompose(a)
print(a.tolist())
