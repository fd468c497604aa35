"""Scratch arrays made before the loop: each iteration fills them anew, whatever rank it is on."""

import numpy as np

SIZE = 30
X = np.arange(SIZE * 5, dtype=float).reshape(SIZE, 5) % 7


def largest_gaps():
    row, stack, out = np.zeros(5), [], np.zeros(SIZE)
    # dlb: parallel, private(row, stack)
    for i in range(SIZE):
        row[:] = X[i]
        row.sort()
        stack.clear()
        for k in range(4):
            stack.append(row[k + 1] - row[k])
        out[i] = max(stack)
    print([v.hex() for v in out.tolist()])


def through_a_function():
    part, total = np.zeros(5), 0.0
    # dlb: parallel, private(part), CYCLIC
    for i in range(SIZE):
        doubled(X[i], part)
        total += part[i % 5]
    print(total.hex())


def doubled(row, out):
    for k in range(5):
        out[k] = 2.0 * row[k]


largest_gaps()
through_a_function()
