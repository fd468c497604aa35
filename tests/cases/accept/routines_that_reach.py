"""Routines whose sequential code reaches arrays in round-about ways, and code that is seen through."""

import functools
import itertools
import random
import sys

import numpy as np

SCALE = 2.0
n = 10


def norm(a, p=2):
    return float((np.abs(a) ** p).sum())


def scaled(a, k):
    a[k] *= SCALE
    return a


@functools.lru_cache
def table(k):
    return np.full(n, float(k))


def change(a, by, *more):
    for b in (a, *more):
        b += by


def picked(u, v, probe, rng, where):
    numbers = random.Random(1)
    cells, weights = table(3), u[2:5]
    rows = [u, v]
    # dlb: iterate
    for t in itertools.count():
        s = 0.0
        # dlb: parallel
        for i in range(n):
            u[i] = u[i] * 0.5 + cells[i] + v[i]
            s += u[i]
        # dlb: parallel
        for i in range(n):
            cells[i] += t
        # dlb: parallel
        for i in range(n):
            v[where[i]] = u[i] - 1.0
        print(t, norm(u).hex(), norm(v, p=1), scaled(v, t)[t], s, table(3)[t], u[probe], u[where[t] : n])
        change(v, 0.5, weights)
        numbers.shuffle(rows)
        first = numbers.choice(rows)
        first[t] += rng.random()
        rng.shuffle(v)
        row, (a, b) = first, (u, v)
        row[0], b[1] = b[1], a[0]
        view = memoryview(u)
        view[t] = 3.0
        np.add(u, 1.0, v), np.multiply(v, 0.5, out=u), np.random.default_rng(t).shuffle(u)
        list.reverse(rows)
        best = max(rows, key=lambda r: r[0])[1]
        print(best, sum(rows)[2], [r[t] for r in rows], *map(float, u[:2]), sys.modules[__name__].field[1])
        print(next(x for x in u if x > -1e9), any(u[k] > v[k] for k in range(n)), (u if t else v).sum())
        if t == 3 and s > -1e9 and probe >= 0:
            break
        u.fill(1.0) if t == 1 else v.sort()
    return u, v, cells, weights


def transposed(u):
    t = 0
    # dlb: iterate
    while (t := t + 1) < 5 and u.T[0, 1] < 1e6:
        # dlb: parallel
        for j in range(n):
            u[:, j] += j * t
        # dlb: parallel
        for i in range(n):
            u[i] *= 0.5
        u.T[1] = t
        u.flat[3] += 1
        w = u.reshape(-1)[n : 2 * n]
        w -= 0.25
        print(u.real[2, 3], w[1], u[..., -1].max(), u[t % n : 0 : -1, 2].tolist())
    return u


field = np.linspace(0.0, 1.0, n)
order = np.random.default_rng(7).permutation(n)
# dlb: iterate
for t in range(3):
    # dlb: parallel
    for i in range(n):
        field[i] += t
print(*picked(field, np.ones(n), 4, np.random.default_rng(3), order))
print(transposed(np.ones((n, n))))
