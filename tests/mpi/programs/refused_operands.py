"""Contributions that fail: at their line, with what the iteration has done until then."""

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


def val(i, at):
    return None if i == at else i * 0.1


def simple(n, at):
    s = 0.5
    c = 0
    t = None
    items = []
    h = {}
    try:
        # dlb: parallel
        for i in range(n):
            c += 1
            items.append(i)
            t = i * 3
            h[i] = 1
            print("o", i)
            s += val(i, at)
            t = i * 5
            items.append(-i)
            c += 10
            print("p", i)
    except TypeError:
        print(tb(), s, c, t, i, items, h)
    else:
        print("fine", s, c, t, i, items)


for at in (0, 4, 11, 99):
    simple(12, at)


def app(n, at):
    xs = [0]
    t = 0
    A = np.zeros(n)
    try:
        # dlb: parallel
        for i in range(n):
            A[i] = 1
            xs.extend(val(i, at) if i == at else [i])
            A[i] = 2
            t = i
    except TypeError:
        print(tb(), xs, t, i, A[: at + 1])


for at in (0, 4, 11):
    app(12, at)


def key(n, at):
    d = {}
    seen = set()
    t = 0
    cnt = dict.fromkeys(range(5), 0)
    try:
        # dlb: parallel
        for i in range(n):
            t = i
            cnt[i % (7 if at == 6 else 5)] += 1
            d[[i] if i == at else i] = i
            t = -i
            seen.add(i)
    except (TypeError, KeyError):
        print(tb(), d, t, i, seen, cnt)


for at in (0, 4, 6, 11):
    key(12, at)


def mx(n, at):
    best = 0.0
    where = None
    t = None
    s = 0
    try:
        # dlb: parallel
        for i in range(n):
            v = val(i, at)
            s += 1
            if v > best:
                best, where = v, i
            t = v
    except TypeError:
        print(tb(), best, where, t, i, s)
    try:
        # dlb: parallel
        for i in range(n):
            s += 1
            best = max(best, val(i, at))
            t = i
    except TypeError:
        print(tb(), best, where, t, i, s)


for at in (0, 4, 11):
    mx(12, at)
