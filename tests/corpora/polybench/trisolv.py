"""A triangular system by substitution (PolyBench trisolv)."""

import numpy as np


def solve(lower, x, b):
    # Not legal: x[i] needs all of x before it.
    # dlb: parallel, BLOCK
    for i in range(len(x)):
        x[i] = b[i]
        # Legal, but other elements of the array are read: a sum in a name would do
        # dlb: parallel, BLOCK
        for j in range(i):
            x[i] -= lower[i, j] * x[j]
        x[i] = x[i] / lower[i, i]


n = 10
x = np.full(n, -999.0)
solve(np.fromfunction(lambda i, j: (i + n - j + 1) * 2 / n, (n, n)), x, np.arange(n) + 0.5)
print(x.tolist())
