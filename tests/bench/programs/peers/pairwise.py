"""Distances between all points."""

import math
import sys

from peer import serve


def pairwise(D, X):
    n, dimensions = X.shape
    # dlb: parallel, BLOCK(D), WHOLE(X), jit
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(dimensions):
                total += (X[i, k] - X[j, k]) * (X[i, k] - X[j, k])
            D[i, j] = math.sqrt(total)
    return D


if __name__ == "__main__":
    serve(pairwise, "pairwise", tuple(int(word) for word in sys.argv[1:]))
