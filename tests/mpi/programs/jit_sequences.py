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


def ended(last):
    """The list keeps what it had where an iteration fails before its store, on whatever rank."""
    kept, sums = [0] * 20, [0.5] * 20
    try:
        # dlb: parallel, BLOCK, jit
        for i in range(20):
            if i > last:
                raise IndexError(i)
            kept[i] = i
            sums[i] += i * 0.5
    except IndexError as error:
        print(error, i)
    return kept, sums


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


def chosen_values():
    xs = [1.0, 2.0, 3.0]
    # dlb: parallel, jit
    for x in xs:
        x > 2 and print(x)
    out = [0] * 4
    kind = {"a": 0, "b": 0}
    # dlb: parallel, jit
    for i in range(4):
        s = i * 0.5
        kind["a" if s > 1 else "b"] += 1
        out[i] = s
    print(kind, out)
    flags = [True, False, True, True]
    # dlb: parallel, jit
    for i in range(4):
        s = i * 0.5
        out[i] = "t" if flags[i] else s
    print(out)
    # dlb: parallel, jit
    for i in range(4):
        s = i * 0.5
        print("big" if i > 1 else "small", s > 1 and s, s if s > 0.7 else None)
        out[i] = (i, s) if s > 1 else ()
    print(out)
    d = {}
    h = [0, 0]
    # dlb: parallel, jit
    for x in xs:
        d["big" if x > 1.6 else "small"] = x
        h[1 if x > 1.6 else 0] += 1
    print(d, h)


def shared_deep_inside():
    A = np.zeros((4, 2))
    B = list(A)
    t = 0.0
    # dlb: parallel, jit
    for i in range(4):
        B[i][1] = i + 5.0
        t += A[i, 1]
    print(t)
    rows = [[0.0] for i in range(4)]
    C = [[row] for row in rows]
    found = []
    # dlb: parallel, jit
    for i in range(4):
        C[i][0][0] = i * 3.0
        found.append(rows[i][0])
    print(found)
    rows = [[0.0] for i in range(4)]
    C = [{"v": row} for row in rows]
    found = []
    # dlb: parallel, jit
    for i in range(4):
        C[i]["v"][0] = i * 3.0
        found.append(rows[i][0])
    print(found)
    w = [[0.0, 1.0] for _ in range(4)]
    C = [w[:], w]
    # dlb: parallel, jit
    for i in range(4):
        for j in range(2):
            C[0][i][j] = 3.0 + i
        found.append(w[i][0])
    print(found)
    v = [[r] for r in w]
    # dlb: parallel, jit
    for i, row in enumerate(w):
        v[i][0][1] = i * 2.0
        found.append(row[1])
    print(found)


def whole_items():
    A = [[1.0], [2.0], [3.0]]
    got = []
    # dlb: parallel, jit
    for row in A:
        if row[0] > 1:
            got.append(row)
    print(got, got[0] is A[1])
    M = np.arange(12.0).reshape(4, 3)
    # dlb: parallel, jit
    for row in M:
        s = row[0] + row[1]
        print(s, row)
    best, brow = -1.0, None
    # dlb: parallel, jit
    for row in M:
        s = row[0] * (5 - row[0])
        if s > best:
            best, brow = s, row
    print(best, brow)
    xs = [0.5, 1.5, 2.5]

    def f(rows, w):
        kept = []
        # dlb: parallel, jit
        for i, (p, q) in enumerate(zip(rows, w)):
            d = p[0] * q
            if d > 1.0:
                kept.append((i, p, d))
        return kept

    print(f(A, xs), f(M, xs))

    def g(rows):
        kept = []
        # dlb: parallel, jit
        for p in rows:
            if p[0] > 1.0:
                kept.append(p)
                kept.append(len(p))
        return kept

    print(g(A), g(M))
    out = [None] * 4
    # dlb: parallel, jit
    for i, row in enumerate(M):
        s = row[0] + 1
        out[i] = row if s > 3 else s
    print(out)
    got = []
    # dlb: parallel, jit
    for row, w in zip(A, xs):
        got.append(row * int(w))
    print(got)


def lists_of_one_type():
    n = 60
    xs = [float(rng.random()) + 0.5 for _ in range(n)]
    P = [[float(rng.random()), float(rng.random())] for _ in range(n)]
    out = [0.0] * n
    # dlb: parallel, jit
    for i in range(n):
        s = 0.0
        for k in range(n):
            s += 1 / xs[k] + xs[i] / (k + 1) + xs[k] ** 2 / xs[i]
        out[i] = s
    print(out[:4])
    best = []
    # dlb: parallel, jit
    for i in range(n):
        m = math.inf
        for j in range(n):
            if j != i:
                d = math.hypot(P[i][0] - P[j][0], P[i][1] - P[j][1])
                if d < m:
                    m = d
        best.append(m / len(P))
    print(best[:4])
    numbers = [k * 7 % 31 + 1 for k in range(n)]
    steps = [0] * n
    # dlb: parallel, jit
    for i, m in enumerate(numbers):
        c = 0
        while m != 1:
            if m % 2 == 0:
                m = m // 2
            else:
                m = 3 * m + 1
            c += 1
        steps[i] = c
    print(steps, type(steps[0]))
    tot = 0
    # dlb: parallel, jit
    for m in numbers:
        tot += m * m
    print(tot, type(tot))
    ids = [3, 1, 4, 1, 5]
    got = []
    # dlb: parallel, jit
    for k in ids:
        got.append(xs[k] * numbers[k] + k)
    print(got)
    big = [10**17, 2, 3]
    # dlb: parallel, jit
    for b in big:
        got.append(b * b * b)
    print(got[-3:])
    zs = [1.0, 0.0, 2.0]
    try:
        # dlb: parallel, jit
        for i, z in enumerate(zs):
            out[i] = 1 / z
    except ZeroDivisionError as e:
        print(e, i, out[:2])
    # dlb: parallel, jit
    for i in range(n):
        out[i] = np.exp(xs[i]) + np.sqrt(xs[i])
    print(out[:3], type(out[0]))


pairs = [[float(rng.random()), float(rng.random())] for _ in range(n)]


def nearest(i):
    best = math.inf
    for j in range(n):
        if j != i:
            best = min(best, math.hypot(pairs[i][0] - pairs[j][0], pairs[i][1] - pairs[j][1]))
    return best


def smoothed(x):
    v = [x] * 4
    for k in range(1, 4):
        v[k] = max(v[k - 1] * 0.5 - 41.0, 0.0) / x
    return v[2] - v[3]


def functions_over_lists():
    strikes = [80.0 + 0.25 * k for k in range(n)]
    prices, near = [], [None] * n
    # dlb: parallel, jit
    for strike in strikes:
        prices.append(smoothed(strike))
    # dlb: parallel, jit
    for i, strike in enumerate(strikes):
        d = nearest(i) / strike
        near[i] = "close" if d < 0.001 else d
    print(prices, near)


every = [xs, tuple(xs), V, V[::-1], M[:, 1], set(xs), dict.fromkeys(xs, 1), deque(xs), range(4, 40, 3)]
for sequence in [*every, [], W, [2, 3], V.astype(np.float32), W.astype(np.int32), [True, False], [1.0, 2]]:
    print(type(sequence).__name__, summed(sequence), counted(sequence))
print(summed(x for x in xs), summed(reversed(xs)), counted(iter(xs)))
print(paired(xs, V), paired(V, range(50)), paired(iter(xs), W), paired([], xs), paired(V, V))
print(*(each.tolist() for each in rows()))
last_items()
print(lists())
failing()
for last in 3, 8, 10, 17:
    print(ended(last))
for hist in np.zeros(4), [0.0] * 4:
    print(changed_under_another_name(hist, hist, np.arange(20) % 4))
chosen_values()
shared_deep_inside()
whole_items()
lists_of_one_type()
functions_over_lists()


class Simulation:
    """Lists in attributes, by what the class binds to them."""

    def __init__(self, n):
        self.out, self.scale = [0.0] * n, 2.0
        self.tenths, self.grid = [0.1 * k for k in range(n)], [[0.0] * 3 for _ in range(n)]

    def run(self):
        # dlb: parallel, jit
        for i in range(len(self.tenths)):
            s = 0.0
            for k in range(1, 9):
                s += self.tenths[i] * k / 3.0
            self.out[i] = s * self.scale
            for m in range(3):
                self.grid[i][m] = s * m
            if s > 3:
                self.grid[i][1] += 1.0


def halved(values, out, count):
    """Lists by what calls give."""
    # dlb: parallel, jit
    for i in range(count):
        out[i] = values[i] / 2


def halves(values):
    out = [None] * len(values)
    halved(values, out, len(values))
    return out


simulation = Simulation(23)
simulation.run()
print(simulation.out, simulation.grid)
print(halves([0.5 * k for k in range(17)]), halves([1, 2, 3, 4]), halves(np.arange(3.0)))
