"""Temporaries set in some iterations only, none at all, in blocks and dealt in turn; empty loops.

Then iterations that conditions keep apart: colours of a grid and of a line, which may hold anything.
"""

import numpy as np

n = 41
out = [0] * n


def run(dealt, limit):
    # dlb: parallel, BLOCK
    for i in range(limit):
        if i % 7 == 3:
            seen = i * 10
        out[i] = i
    try:
        return i, seen
    except NameError as error:
        return type(error).__name__


def dealt(limit):
    # dlb: parallel, CYCLIC
    for i in range(limit):
        if i % 5 == 2:
            seen = i * 10
        out[i] = -i
    try:
        return i, seen
    except NameError as error:
        return type(error).__name__


for limit in (0, 1, 3, 4, 25, 41):
    print(run("block", limit), dealt(limit), sum(out))


def coloured(u, colour):
    n, m = u.shape
    # dlb: parallel, BLOCK
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            if (i + j) % 2 == colour:
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def alternating(u, parity, most):
    # dlb: parallel, BLOCK
    for i in range(1, len(u) - 1):
        if i % 2 != parity or u[i] > most:
            continue
        u[i] = 0.5 * (u[i - 1] + u[i + 1])


def paired(u, parity):
    # dlb: parallel, BLOCK
    for i in range(1, len(u)):
        if i % 2 == parity:
            u[i - 1], u[i] = u[i], u[i - 1]


grid, line = np.arange(399.0).reshape(21, 19) ** 0.5, np.arange(60.0) ** 0.7
for colour in (0, 1, True, 1.0, 1.5, np.int64(0), np.array([1])):
    coloured(grid, colour)
    alternating(line, colour, 15.25)
    paired(line, colour)
print(grid.tolist(), line.tolist())
