"""Stores through functions, methods and properties, of the file and of a module beside it."""

import fields_module
import numpy as np
import side_module
from fields_module import Field, Turned, both, fill_row


def update(u, i):
    u[i] = u[i] * 2 + 1


def stencil(new, old, i, m):
    for j in range(1, m - 1):
        new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


def place(i, j, m):
    return i * m + j


def twice(a, b, i):
    a[i] = b[i] + 1


def inside(a, i, n):
    if i == 0 or i == n - 1:
        return
    a[i] = a[i] + i


def pairs(a, i, *, half=0.5):
    k = 2 * i
    row = a[k]
    row += 1
    a[k + 1] = row * half


def sweep(a, i):
    update(a, i)
    deeper(a, i)


def deeper(b, k):
    t = k
    while t > 0:
        b[k] += t
        t -= 3


def fails(a, i):
    a[i] = 7 // (i - 5)


def reading(u, i):
    return u[i] + 1


def showing(a, i):
    a[i] = i
    print("row", i)


class Grid:
    def __init__(self, n, m):
        self.n, self.m = n, m
        self.A, self.B = np.zeros((n, m)), np.ones((n, m))

    def __len__(self):
        return self.n

    def cell(self, i):
        for j in range(self.m):
            self.A[i, j] += self.B[i, j] + self.value(i, j)

    def value(self, i, j):
        return i * 10 + j

    def relax(self, i):
        self.B[i, :] = self.A[i, :] * 0.5

    def run(self):
        # dlb: parallel
        for i in range(len(self)):
            self.cell(i)
        # dlb: parallel, CYCLIC
        for i in range(1, len(self) - 1):
            self.relax(i)
            self.B[i, 0] = self.value(i, 3)


def functions(n, m):
    u, v = np.arange(float(n)), np.zeros(n)
    A, Z = np.arange(float(n * m)).reshape(n, m), np.zeros((n, m))
    rows = [[0.0] * m for _ in range(n)]
    # dlb: parallel
    for i in range(n):
        update(u, i)
        twice(u, u, i)
    # dlb: parallel
    for i in range(1, n - 1):
        stencil(Z, A, i, m)
    # dlb: parallel
    for i in range(n):
        inside(u, i, n)
        twice(v, u, i)
    # dlb: parallel
    for i in range(n // 2):
        pairs(v, i)
        pairs(A, i, half=0.25)
    # dlb: parallel
    for i in reversed(range(n)):
        sweep(u, i)
        u[i] = reading(u, i)
    # dlb: parallel
    for i in range(n):
        twice(rows[i], rows[i], 0)
        for j in range(1, m):
            A[i, place(0, j, m)] = place(i, j, m)
    # dlb: parallel
    for i in range(n):
        showing(v, i)
    try:
        # dlb: parallel
        for i in range(n):
            fails(Z, i)
    except ZeroDivisionError as error:
        print(error, i, Z[:5])
    print(u, v, A, rows, sep="\n")


def cells(field: Field):
    # dlb: parallel
    for i in range(len(field)):
        field.cell(i)


def modules(n, m):
    u, v, A = np.ones(n), np.zeros(n), np.zeros((n, m))
    # dlb: parallel
    for i in range(n):
        fields_module.fill_row(A, i)
        both(u, v, i)
    # dlb: parallel
    for i in range(n):
        fill_row(A[i : i + 1], 0, value=A[i, 0])
    for field in (Field(n, m), Turned(n, m)):
        cells(field)
        print(field.cells)
    f = Field(n, m)
    # dlb: parallel
    for i in range(f.rows):
        f.cell(i)
        f.put(i, 0, 1)
    print(u, v, A, f.cells, sep="\n")


functions(24, 6)
modules(24, 6)
grid = Grid(20, 3)
grid.run()
# dlb: parallel
for i in range(len(grid)):
    grid.cell(i)
print(grid.A, grid.B, sep="\n")


registered = {}


def register(function):
    registered[function.__name__] = function
    return function


@register
def cubed(x):
    return x**3


cubes = [0] * 9
# dlb: parallel
for i in range(9):
    cubes[i] = cubed(i)
print(cubes, list(registered))
walkers, others = ([side_module.Walker(float(k)) for k in range(9)] for _ in range(2))
# dlb: parallel
for walker in walkers:
    walker.step(0.25)
# dlb: parallel, CYCLIC
for i in range(9):
    walkers[i].meet(others[i])
print([(w.x, w.trail) for w in (*walkers, *others)])
