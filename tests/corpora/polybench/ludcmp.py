"""LU decomposition, then two triangular systems (PolyBench ludcmp)."""

import numpy as np


def solve(a, b, x, y):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            w = a[i, j]
            for k in range(j):
                w -= a[i, k] * a[k, j]
            a[i, j] = w / a[j, j]
        # dlb: parallel, BLOCK
        for j in range(i, n):
            w = a[i, j]
            for k in range(i):
                w -= a[i, k] * a[k, j]
            a[i, j] = w
    # Not legal: y[i] needs all of y before it.
    # dlb: parallel, BLOCK
    for i in range(n):
        w = b[i]
        # dlb: parallel, BLOCK
        for j in range(i):
            w -= a[i, j] * y[j]
        y[i] = w
    # Not legal: x[i] needs all of x after it.
    # dlb: parallel, BLOCK
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= a[i, j] * x[j]
        x[i] = w / a[i, i]


n = 8
a = np.fromfunction(lambda i, j: (i * j) % n / n + 1, (n, n)) + n * np.eye(n)
x = np.zeros(n)
solve(a, (np.arange(n) + 1) / n / 2 + 4, x, np.zeros(n))
print(x.tolist())
