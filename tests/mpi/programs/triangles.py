"""Triangular loops, which are folded into pairs of iterations, with all that a body may leave behind."""

import numpy as np


def stored(n):
    A = np.zeros((n, 3))
    B = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(i, n):
            A[i, j % 3] += 1.0 / (1 + i + j)
    # dlb: parallel, CYCLIC, fold
    for i in range(n - 1, -1, -1):
        for j in range(i):
            B[i] += j * 0.5
    return A, B


def halo(n):
    u = np.linspace(0.0, 1.0, n)
    v = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(1, n - 1):
        for j in range(i):
            v[i] += (u[i - 1] - 2 * u[i] + u[i + 1]) * j
    return v


def contributed(n):
    total, low, hist, seen, out = 0.0, 1e9, np.zeros(5, int), {}, []
    best, where = -1.0, None
    last = None
    # dlb: parallel, BLOCK, fold
    for i in range(n):
        x = 0.0
        for j in range(i):
            x += 1.0 / (1 + j)
        total += x
        low = min(low, abs(x - 2.5))
        hist[i % 5] += 1
        out.append((i, x))
        seen[i % 7] = i
        value = (i * 37) % 101
        if value > best:
            best, where = value, i
        if i % 9 == 4:
            last = i
        if i % 40 == 0:
            print("at", i)
    return total.hex(), low, hist.tolist(), seen, hash(tuple(out)), best, where, last, x, value, i


def several(n, order):
    s = 0.0
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(i):
            s += order[j] * 0.1
    return round(s, 6)


def failing(n, at):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(i):
            A[i] += 1 / (at - i)
    return A


def strided(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n - 1, 2, -3):
        for j in range(n - i):
            A[i] += i * j
    return A


class Lists:
    def __init__(self, n):
        self.rows = [[k] for k in range(n)]
        self.sums = [None] * n

    def fill(self, n):
        # dlb: parallel, BLOCK, fold
        for k, row in enumerate(self.rows):
            self.sums[k] = [*row, sum(range(k))]
        return self.sums


for n in (0, 1, 2, 3, 8, 21, 64, 121):
    A, B = stored(n)
    print(n, A.tobytes().hex()[-64:], A.sum().hex(), B.sum().hex(), strided(n).tolist()[:7])
    if n:
        print(contributed(n))
    print(several(n, list(range(n))), Lists(n).fill(n)[-3:])
for n in (3, 40, 41):
    print(halo(n).tolist()[-5:])
for at in (0, 5, 30, 31, 59, 60):
    try:
        print(failing(60, at).sum().hex())
    except ZeroDivisionError as error:
        print(at, error)
