"""What temporaries hold after an exception that is caught, where iterations are dealt in turn."""

import numpy as np

A = np.zeros(64)


def cyc(n, at):
    t = u = None
    try:
        # dlb: parallel, CYCLIC
        for i in range(n):
            t = i * 2
            if i % 3 == 0:
                u = i
            if i in at:
                raise ValueError(i)
            A[i] = i
            t = i * 7
    except ValueError as e:
        print("c", n, at, t, u, i, e.args)
    else:
        print("fine", t, u, i)


def blk(n, at):
    t = u = None
    try:
        # dlb: parallel
        for i in range(n):
            if i in at:
                raise ValueError(i)
            t = i * 2
            if i % 3 == 0:
                u = i
            A[i] = i
            t = i * 7
    except ValueError as e:
        print("b", n, at, t, u, i, e.args)
    else:
        print("fine", t, u, i)


def cyc2(n, at):
    t = u = None
    s = 0.5
    try:
        # dlb: parallel, CYCLIC
        for i in range(n):
            if i in at:
                raise ValueError(i)
            t = i * 2
            if i % 3 == 0:
                u = i
            A[i] = i
            s += i * 0.1
            t = i * 7
    except ValueError as e:
        print("c2", n, at, t, u, i, e.args, s)
    else:
        print("fine", t, u, i, s)


def fold(n, at):
    t = u = None
    try:
        # dlb: parallel, CYCLIC, fold
        for i in range(n):
            if i in at:
                raise ValueError(i)
            t = i * 2
            for j in range(i):
                u = j
            A[i] = i
            t = i * 7
    except ValueError as e:
        print("f", n, at, t, u, i, e.args)
    else:
        print("fine", t, u, i)


for n in (13, 40):
    for at in ((), (0,), (1,), (2,), (5,), (12,), (7, 8, 9), (n - 1,), (n - 2,), (3, 11), (10, 4)):
        cyc(n, at)
        blk(n, at)
        cyc2(n, at)
        fold(n, at)
