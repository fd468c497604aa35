"""Floyd and Warshall: shortest paths between all nodes."""

import sys

from peer import serve


def floyd_warshall(path):
    n = path.shape[0]
    # dlb: iterate
    for k in range(n):
        row = path[k].copy()
        # dlb: parallel, BLOCK(path), WHOLE(row), jit
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + row[j])
    return path


if __name__ == "__main__":
    serve(floyd_warshall, "floyd_warshall", tuple(int(word) for word in sys.argv[1:]))
