"""Averages of nine neighbours, in place (PolyBench seidel-2d)."""

import numpy as np


def seidel(steps, a):
    n = a.shape[0]
    for _ in range(steps):
        # Not legal: row i needs the row above, already averaged.
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            # Not legal: element j needs the element before it.
            # dlb: parallel, BLOCK
            for j in range(1, n - 1):
                above = a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                below = a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                a[i, j] = (above + a[i, j - 1] + a[i, j] + a[i, j + 1] + below) / 9.0


n = 9
a = np.fromfunction(lambda i, j: (i * (j + 2) + 2) / n, (n, n))
seidel(2, a)
print(a.tolist())
