"""A cost that needs numpy, where `np` is something else."""

from math import isqrt

ends = [0, 1, 3, 6, 10]


def row_of(k):
    return (isqrt(8 * k + 1) - 1) // 2


def packed(A, np, items):
    # dlb: parallel
    for i in range(4):
        for j in range(i, np):
            A[i] += j
    # dlb: parallel
    for i in range(4):
        for j in range(ends[i], ends[i + 1]):
            items[i] = j
    # dlb: parallel
    for k in range(10):
        for j in range(row_of(k)):
            items[k] += j


A, items = [0] * 4, [0] * 10
packed(A, 3, items)
print(A, items)

import numpy
