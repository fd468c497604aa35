"""Compiled loops over sequences, and stores to lists, which Python does."""

import math
from collections import deque

import numpy as np

rng = np.random.default_rng(45)
n = 31
V = rng.random(n) - 0.5
W = rng.integers(-9, 9, n)
M = rng.random((n, 3)) - 0.5
xs = [float(v) for v in rng.random(n)]
table = [[float(a * b % 7) for b in range(5)] for a in range(n)]


def norm(a):
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def summed(seq):
    t = 0.0
    # dlb: parallel, BLOCK, jit
    for x in seq:
        t += x * 0.5
    return t


def counted(seq):
    t = 0.0
    # dlb: parallel, BLOCK, jit
    for i, x in enumerate(seq, 2):
        t += x * i
    return t


def paired(a, b):
    found = []
    # dlb: parallel, BLOCK, jit
    for x, y in zip(a, b):
        found.append(x * y - x)
    return found


def rows():
    A = M.copy()
    out = np.zeros(n)
    # dlb: parallel, BLOCK, jit
    for row in A:
        length = norm(row)
        for k in range(3):
            row[k] /= length
    # dlb: parallel, BLOCK, jit
    for i, (row, (x, y, z), w) in enumerate(zip(A, M[::-1], W)):
        out[i] = row[0] * x + row[1] * y + row[2] * z + w
        row[2] = out[i]
    return A, out


def last_items():
    """The items of the last iteration are those that it has found."""
    a, b = V.copy(), list(xs)
    # dlb: parallel, BLOCK, jit
    for i, x in enumerate(a):
        a[i] = x * 2.0 + i
    print(i, x.hex())
    # dlb: parallel, BLOCK
    for i, x in enumerate(b):
        b[i] = x * 2.0 + i
    print(i, x.hex(), a.sum(), sum(b))
    # dlb: parallel, BLOCK, jit
    for i, x in enumerate(a):
        if i < n - 1:
            a[i + 1] = x
    print(x.hex(), a.sum())
    # dlb: parallel, BLOCK, jit
    for row in table:
        c = row[1] + row[2]
    print(c, row is table[-1])


def lists():
    out, kept, marks = [0] * n, [None] * n, [True] * n
    # dlb: parallel, BLOCK, jit
    for i, x in enumerate(xs):
        s = 0.0
        for k in range(4):
            s += math.sin(x + k)
        out[i] = s
        kept[i] = W[i]
    # dlb: parallel, BLOCK, jit
    for m in range(n):
        for d in range(2, m):
            if m % d == 0:
                marks[m] = False
                break
    grid = [[0.0] * 5 for _ in range(n)]
    # dlb: parallel, BLOCK, jit
    for i in range(n):
        for j in range(5):
            s = 0.0
            for k in range(5):
                s += table[i][k] * table[k][j]
            grid[i][(j + 1) % 5] = s
            if s > 40.0:
                grid[i][j] -= 1
    return out, kept, [type(each).__name__ for each in kept[:2]], marks, grid


def failing():
    out = [0.0] * 20
    try:
        # dlb: parallel, BLOCK, jit
        for i, x in enumerate(xs):
            out[i] = x + i
    except IndexError as error:
        print(error, i, x.hex(), out)
    a = V.copy()
    try:
        # dlb: parallel, BLOCK, jit
        for i, w in enumerate(W.tolist()):
            a[i] = 1.0 + V[i]
            a[i] = 1.0 / (w - 3)
    except ZeroDivisionError as error:
        print(error, i, w, a[: i + 1].sum().hex())
    try:
        # dlb: parallel, BLOCK, jit
        for x, y in M:
            a[0] = x
    except ValueError as error:
        print(error)


def changed_under_another_name(hist, other, key):
    found = []
    # dlb: parallel, BLOCK, jit
    for i in range(len(key)):
        hist[key[i]] += 1
        found.append(other[i % 4] * 2)
    A = [0.0] * 9
    B = A
    # dlb: parallel, BLOCK, jit
    for i in range(9):
        A[i] = i * 0.5
        found.append(B[i] + 1)
    T = [[0.0] * 4 for _ in range(9)]
    U = T[:]
    # dlb: parallel, BLOCK, jit
    for i in range(9):
        T[i][1] = i * 0.5
        found.append(U[i][1] + 1)
    # dlb: parallel, BLOCK, jit
    for i, x in enumerate(B):
        A[i] = x * 0.25
        found.append(x + 1)
    return [float(x) for x in found], list(hist), A, T


every = [xs, tuple(xs), V, V[::-1], M[:, 1], set(xs), dict.fromkeys(xs, 1), deque(xs), range(4, 40, 3)]
for sequence in [*every, [], W, [2, 3], V.astype(np.float32), W.astype(np.int32), [True, False], [1.0, 2]]:
    print(type(sequence).__name__, summed(sequence), counted(sequence))
print(summed(x for x in xs), summed(reversed(xs)), counted(iter(xs)))
print(paired(xs, V), paired(V, range(50)), paired(iter(xs), W), paired([], xs), paired(V, V))
print(*(each.tolist() for each in rows()))
last_items()
print(lists())
failing()
for hist in np.zeros(4), [0.0] * 4:
    print(changed_under_another_name(hist, hist, np.arange(20) % 4))
