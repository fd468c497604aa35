"""An exception in the body: the lowest failing iteration's, with its attributes, caught and uncaught."""

import sys

import numpy as np


class TooBig(ValueError):
    def __init__(self, value, *, limit):
        super().__init__(f"{value} is more than {limit}")
        self.value = value
        self.limit = limit


def check(value):
    if value > 60:
        raise TooBig(value, limit=60)
    return value


n = 50
A = np.zeros(n)
for start in (45, 20, 3, 0):
    try:
        # dlb: parallel, BLOCK
        for i in range(start, n):
            A[i] = check(i * 61 if i in (start + 2, n - 1) else i)
    except TooBig as error:
        print(type(error).__name__, error, error.value, error.limit, i, A[start], A[start + 1])
A = np.zeros(n)
try:
    # dlb: parallel, CYCLIC
    for i in range(n):
        A[i] = 1 // (17 - i)
except ZeroDivisionError as error:
    print(error, i, A[:18].tolist())
sys.stdout.flush()
# dlb: parallel, BLOCK
for i in range(n):
    A[i] = check(i * 2)
