"""LU decomposition without pivoting, row by row (PolyBench lu)."""

import numpy as np


def decompose(a):
    n = a.shape[0]
    # Not legal: row i needs the rows above, already decomposed.
    # dlb: parallel, BLOCK
    for i in range(n):
        # Not legal: element j needs the elements before it in the row.
        # dlb: parallel, BLOCK
        for j in range(i):
            # Legal, but other elements of the array are read: a sum in a name would do
            # dlb: parallel, BLOCK
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        # dlb: parallel, BLOCK
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


n = 8
a = np.fromfunction(lambda i, j: (i * j) % n / n + 1, (n, n)) + n * np.eye(n)
decompose(a)
print(a.tolist())
