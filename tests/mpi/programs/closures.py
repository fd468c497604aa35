"""A loop in a closure, one in a method, a class of the program, a function with a default and a global."""

import math

import numpy as np

SCALE = 3.0


class Cell:
    def __init__(self, value):
        self.value = value

    def area(self):
        return math.pi * self.value**2


def scaled(x, by=2.0):
    return x * by * SCALE


def outer(n):
    offset = 0.25

    def shift(x):
        return x + offset

    def inner():
        out = np.zeros(n)
        # dlb: parallel, BLOCK
        for i in range(n):
            cell = Cell(shift(i))
            out[i] = scaled(cell.area())
        return out, cell

    return inner()


class Solver:
    def __init__(self, n):
        self.n = n
        self.grid = np.arange(float(n * 3)).reshape(n, 3)
        self.__weight = 0.5

    def step(self, factor):
        # dlb: parallel, BLOCK
        for i in range(self.n):
            self.grid[i] = self.grid[i] * factor + self.__weight
        return self


for n in (1, 4, 29):
    out, cell = outer(n)
    print(out.tobytes().hex(), isinstance(cell, Cell), cell.value)
solver = Solver(19)
SCALE = 5.0
for step in range(3):
    solver.step(1.5)
print(solver.grid.tolist())
print(outer(3)[0].tolist())
