"""Heat in a plate, step by step, back and forth between two fields."""

import sys

from peer import serve


def heat2d(u, v, steps):
    n, m = u.shape
    # dlb: iterate
    for _ in range(steps):
        # dlb: parallel, BLOCK, jit
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                v[i, j] = u[i, j] + 0.24 * (around - 4.0 * u[i, j])
        u, v = v, u
    return u


if __name__ == "__main__":
    serve(heat2d, "heat2d", tuple(int(word) for word in sys.argv[1:]))
