"""Averages of three neighbours, from one array into another and back (PolyBench jacobi-1d)."""

import numpy as np


def jacobi(steps, a, b):
    # Not legal: each step reads what the one before stored.
    # dlb: parallel, BLOCK
    for _ in range(steps):
        # dlb: parallel, BLOCK
        for i in range(1, len(a) - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        # dlb: parallel, BLOCK
        for i in range(1, len(b) - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])


a = (np.arange(20) + 2) / 20
jacobi(3, a, (np.arange(20) + 3) / 20)
print(a.tolist())
