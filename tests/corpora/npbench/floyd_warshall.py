"""Shortest paths between all nodes, as marked there and with row k kept aside (NPBench floyd_warshall)."""

import numpy as np


def shortest(path):
    for k in range(path.shape[0]):
        # Not legal: iteration k stores to row k, which all read (harmless where path[k, k] is not negative).
        # dlb: parallel, BLOCK
        for i in range(path.shape[0]):
            path[i, :] = np.minimum(path[i, :], path[i, k] + path[k, :])


def shortest_aside(path):
    for k in range(path.shape[0]):
        through = path[k, :].copy()
        # dlb: parallel, BLOCK
        for i in range(path.shape[0]):
            path[i, :] = np.minimum(path[i, :], path[i, k] + through)


path = np.random.default_rng(12).integers(1, 100, (11, 11))
again = path.copy()
shortest(path)
shortest_aside(again)
print(path.tolist(), again.tolist())
