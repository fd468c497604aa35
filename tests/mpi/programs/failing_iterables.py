"""Iterables that fail half-way: after the effects of the iterations before."""

import sys
import traceback

import numpy as np


def tb():
    e = sys.exception()
    return (
        type(e).__name__,
        str(e),
        [(f.lineno, f.name, f.line) for f in traceback.extract_tb(e.__traceback__)][-1],
    )


def gen(n, at):
    for i in range(n):
        if i == at:
            raise LookupError(f"no {i}")
        yield i


class It:
    def __init__(self, n):
        self.n, self.k = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        if self.k > self.n:
            raise OSError(5, "disk")
        return self.k


def loop(it, out):
    A = np.zeros(40)
    s = 0
    t = x = None
    try:
        # dlb: parallel
        for x in it:
            A[x] = x
            s += x
            t = x * 2
            out.append(x)
            print("x", x)
        else:
            print("else")
    except (LookupError, OSError, ValueError, TypeError):
        print(tb(), A.sum(), s, t, x, out)
    else:
        print("fine", A.sum(), s, t, x, out)


def en(it, out):
    A = np.zeros(40)
    s = 0
    t = x = None
    try:
        # dlb: parallel
        for k, x in enumerate(it, 3):
            A[k] = x
            s += x
            t = x * 2
            out.append(x)
    except (LookupError, OSError):
        print(tb(), A.sum(), s, t, x, out)


def zz(it, b, out):
    A = np.zeros(40)
    s = 0
    t = x = None
    try:
        # dlb: parallel
        for x, y in zip(it, b):
            s += x
            t = x * 2
            out.append(x)
    except (LookupError, OSError):
        print(tb(), A.sum(), s, t, x, out)


for at in (0, 1, 5, 11, 99):
    loop(gen(12, at), [])
    en(gen(12, at), [])
    zz(gen(12, at), range(20), [])
    zz(range(20), gen(12, at), [])
loop(It(5), [])
try:
    loop((6 // (3 - i) for i in range(6)), [])
except ZeroDivisionError:
    print(tb())
d = {1: 1, 2: 2, 3: 3}


def bad():
    for k in d:
        if k == 2:
            d[9] = 1
        yield k


try:
    loop(bad(), [])
except RuntimeError:
    print(tb())


def first_fails_then_body(n):
    t = None
    try:
        # dlb: parallel
        for x in gen(n, 8):
            t = x
            if x == 4:
                raise ValueError("body")
    except Exception:
        print(tb(), t, x)


first_fails_then_body(12)
# dlb: parallel
for x in gen(9, 4):
    print(x)
