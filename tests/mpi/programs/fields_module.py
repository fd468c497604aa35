"""A module beside the program, whose functions and methods store into what they are given."""

from math import sqrt

import numpy as np

WIDTH = 4
TABLE = np.arange(100.0)


def fill_row(a, i, value=1.0):
    for j in range(WIDTH):
        a[i, j] = value * j + sqrt(i) + TABLE[i]


def both(u, v, i):
    set_one(u, i, v[i] + 1)
    set_one(v, i, 2 * i)


def set_one(w, k, e):
    w[k] = e


class Field:
    def __init__(self, n, m):
        self.cells = np.zeros((n, m))
        self.m = m

    def __len__(self):
        return len(self.cells)

    @property
    def rows(self):
        return self.cells.shape[0]

    def cell(self, i):
        for j in range(self.m):
            self.put(i, j, i * j)

    def put(self, i, j, e):
        self.cells[i, j] += e + 0.5


class Turned(Field):
    """Its objects store in another row than those of its base."""

    def put(self, i, j, e):
        self.cells[-1 - i, j] = self.cells[i - 1, j] + e
