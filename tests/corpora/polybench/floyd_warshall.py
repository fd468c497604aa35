"""Shortest paths between all nodes, element by element (PolyBench floyd-warshall)."""

import numpy as np


def shortest(path):
    n = path.shape[0]
    for k in range(n):
        # Not legal: row k is stored to by iteration k and read by all (harmless where path[k, k] is 0).
        # dlb: parallel, BLOCK
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


path = np.fromfunction(lambda i, j: i * j % 7 + 1, (9, 9), dtype=int)
path[np.add.outer(np.arange(9), np.arange(9)) % 13 == 0] = 999
shortest(path)
print(path.tolist())
