"""Shortest paths between all nodes (PolyBench floyd-warshall); row k, unchanged by step k, as a copy."""

import numpy as np
from harness import run

SIZES = {"MINI": (60,), "SMALL": (180,), "MEDIUM": (500,), "LARGE": (2800,)}


def initial(n):
    path = np.fromfunction(lambda i, j: i * j % 7 + 1, (n, n), dtype=np.int64)
    both = np.add.outer(np.arange(n), np.arange(n))
    path[(both % 13 == 0) | (both % 7 == 0) | (both % 11 == 0)] = 999
    return (path,)


def kernel(path):
    n = path.shape[0]
    for k in range(n):
        row = path[k].copy()
        # dlb: parallel, BLOCK(path), WHOLE(row), jit
        for i in range(n):
            for j in range(n):
                path[i, j] = path[i, j] if path[i, j] < path[i, k] + row[j] else path[i, k] + row[j]
    return path


def original(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = path[i, j] if path[i, j] < path[i, k] + path[k, j] else path[i, k] + path[k, j]
    return path


if __name__ == "__main__":
    run(kernel, initial, SIZES)
