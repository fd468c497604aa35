"""Passes that can be foreseen, and the same loops in passes that cannot."""

import numpy as np


def relax(u, v, steps):
    n, m = u.shape
    # dlb: iterate
    for _ in range(steps):
        # dlb: parallel, jit(as_written)
        for i in range(1, n - 1):  # rows between the edges
            for j in range(m):
                v[i, j] = (u[i - 1, j] + u[i + 1, j]) * 0.5
        u, v = v, u  # back and forth
    return u


# dlb: iterate
for k in range(len(paths := np.random.default_rng(1).random((9, 9)))):
    row = paths[k].copy()
    # dlb: parallel, jit(as_written)
    for i in range(9):
        for j in range(9):
            paths[i, j] = min(paths[i, j], paths[i, k] + row[j])


def phases(u, v, passes):
    dt, time = 0.125, 0.0
    # dlb: iterate
    for step in range(0, passes, 2):
        for half in range(2):
            # the even columns first
            # dlb: parallel, jit(as_written)
            for i in range(len(u)):
                for j in range(half, 8, 2):
                    u[i, j] = 0.5 * u[i, j] + v[i, j] * time + step
        # dlb: parallel, jit(as_written)
        for i in range(len(u)):
            for j in range(8):
                v[i, j] = u[i, j] * 0.75
        time += dt
    else:
        u[0] = 0.0
    return v


def watched(u, v, steps):
    # dlb: iterate
    for _ in range(steps):
        # dlb: parallel, jit(as_written)
        for i in range(1, 8):
            v[i, 0] = u[i, 0] * 0.5
        print(v[1, 0])
        u, v = v, u
    return u


print(relax(np.ones((9, 8)), np.zeros((9, 8)), 40)[4, 4], paths[3, 3], phases(np.ones((9, 8)), np.ones((9, 8)), 60)[2, 2])
print(watched(np.ones((9, 8)), np.zeros((9, 8)), 3)[4, 0])
