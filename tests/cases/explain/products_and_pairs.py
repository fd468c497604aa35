import numpy as np


def product(X, Y, Z, n, m, r):
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(m):
            for k in range(r):
                Z[i, j] += X[i, k] * Y[k, j]


def pairs(points, distances):
    # dlb: parallel, CYCLIC, schedule(GDDLB)
    for i, p in enumerate(points):
        distances[i, i:] = np.abs(points[i:] - p).sum(axis=1)
