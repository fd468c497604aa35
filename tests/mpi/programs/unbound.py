"""Names that have no value where a loop has no iteration, and where it has."""

import sys

import numpy as np

A = np.ones(9)


def f(n):
    if n > 0:
        m = 5
        s = 0
    # dlb: parallel
    for i in range(n):
        A[i] *= m
        s += m
    return s if n else None


print(f(0), f(4), A)
if len(sys.argv) > 50:
    q = 3
try:
    # dlb: parallel
    for i in range(3):
        A[i] += q
except NameError as e:
    print(type(e).__name__, e)


def g(n):
    if n > 5:
        m = 5
    # dlb: parallel
    for i in range(n):
        A[i] *= m


try:
    g(3)
except NameError as e:
    print(type(e).__name__, e)
