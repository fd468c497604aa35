"""Yule and Walker's equations by Durbin's recursion (PolyBench durbin)."""

import numpy as np
from harness import run

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,)}


def initial(n):
    return n + 1.0 - np.arange(n), np.zeros(n), np.zeros(n)


def kernel(r, y, z):
    n = len(r)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        # dlb: parallel, BLOCK, jit
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y


if __name__ == "__main__":
    run(kernel, initial, SIZES)
