"""Stores and reads of the program's own functions, seen at the call."""
import numpy as np


def update(u, i):
    u[i] = u[i] * 2 + 1


def stencil(new, old, i, m):
    """Inner loops and halos of the callee are those of the loop."""
    for j in range(1, m - 1):
        new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


def pairs(a, i, *, half=0.5):
    k = 2 * i
    a[k] = half * a[k + 1]
    a[k + 1] = i


def inside(a, i, n):
    if i == 0 or i == n - 1:
        return
    a[i] = a[i] + i


def plus(a, b, i):
    update(a, i)
    a[i] += b[i]


class Grid:
    def __init__(self, n, m):
        self.m = m
        self.A = np.zeros((n, m))

    def __len__(self):
        return len(self.A)

    @property
    def rows(self):
        return self.A.shape[0]

    def place(self, i, j):
        return i * self.m + j

    def cell(self, i):
        for j in range(self.m):
            self.put(i, j, self.place(i, j))

    def put(self, i, j, e):
        self.A[i, j] = e

    def run(self):
        # dlb: parallel
        for i in range(len(self)):
            self.cell(i)
        # dlb: parallel
        for i in range(self.rows):
            self.A[i] = self.A[i] + i


def main(n=12, m=5):
    u, v = np.arange(float(2 * n)), np.zeros(n)
    X, Z = np.ones((n, m)), np.zeros((n, m))
    # dlb: parallel
    for i in range(n):
        update(u, i)
    # dlb: parallel
    for i in range(1, n - 1):
        stencil(Z, X, i, m)
    # dlb: parallel
    for i in range(n):
        pairs(u, i)
    # dlb: parallel
    for i in range(n):
        inside(v, i, n)
    # dlb: parallel
    for i in range(n):
        plus(v, v, i)
    # dlb: parallel
    for i in range(n):
        plus(b=X[i], a=Z[i, :], i=0)
    grid = Grid(n, m)
    grid.run()
    # dlb: parallel
    for i in range(n):
        grid.put(i, 0, i)
    print(u, v, Z, grid.A)


main()
