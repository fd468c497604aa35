"""Yule and Walker's equations by Durbin's recursion (PolyBench durbin)."""

import numpy as np


def durbin(r, y):
    n = len(r)
    y[0] = -r[0]
    beta, alpha = 1.0, -r[0]
    # Not legal: each order is computed from the one before.
    # dlb: parallel, BLOCK
    for k in range(1, n):
        beta = (1 - alpha * alpha) * beta
        total = 0.0
        # dlb: parallel, BLOCK
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        z = np.empty(k)
        # dlb: parallel, BLOCK
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        # dlb: parallel, BLOCK
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


y = np.zeros(8)
durbin(9.0 - np.arange(8), y)
print(y.tolist())
