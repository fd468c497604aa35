"""Compiled inner loops that contribute: pairs, histograms, greatest values, output, what fails."""

import math

import numpy as np

rng = np.random.default_rng(5)
n = 40
x, y = rng.random(n), rng.random((n, 3))
k = rng.integers(0, 9, (n, 12))


def near(points, limit):
    pairs, lengths = [], []
    # dlb: parallel, jit
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            d = 0.0
            for c in range(3):
                d += (points[i, c] - points[j, c]) * (points[i, c] - points[j, c])
            if d < limit:
                pairs.append((i, j))
                lengths.append(d)
    return pairs, [(type(each).__name__, each) for each in lengths]


def counted(table, weights):
    whole, parts, odd, flips = np.zeros(9, dtype=np.int64), np.zeros(9), {}, 0
    # dlb: parallel, jit
    for i in range(len(table)):
        for j in range(table.shape[1]):
            if table[i, j] == 7:
                continue
            whole[table[i, j]] += 1
            parts[table[i, j]] += weights[i] * j
            if table[i, j] % 2:
                odd[int(table[i, j])] = odd.get(int(table[i, j]), 0) + 1
            else:
                flips ^= i * j
    return whole.tolist(), parts.tolist(), odd, flips


def extremes(values):
    high, low, best, where, last, at = -math.inf, math.inf, -1.0, None, 2.0, None
    # dlb: parallel, jit
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            high = max(high, values[i, j])
            low = min(low, values[i, j])
            if values[i, j] > best:
                best, where = values[i, j], (i, j)
            if last >= values[i, j]:
                last, at = values[i, j], (j, i)
    return [(type(each).__name__, each) for each in (high, low, best, where, last, at)]


def longest(limit):
    best, at = 0, None
    # dlb: parallel, jit
    for i in range(1, limit):
        m, steps = i, 0
        while m != 1:
            m = 3 * m + 1 if m % 2 else m // 2
            steps += 1
            if best < steps:
                best, at = steps, i
    return best, at


def many(count):
    found = []
    # dlb: parallel, jit
    for i in range(4):
        for j in range(count * i):
            if j % 3 == i % 3:
                found.append(j)
    return len(found), sum(found), found[:5], found[-5:]


def in_place(a):
    changes = []
    # dlb: parallel, jit
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                a[i, j] -= 0.25
                changes.append(i)
    return changes


def printed(a):
    # dlb: parallel, jit
    for i in range(len(a)):
        if i % 4 == 1:
            for j in range(3):
                if a[i, j] > 0.5:
                    print("cell", i, j, f"{a[i, j]:.3f}")
            print("row", i)


def grouped(a):
    groups, hits = {0: [], 1: [], 2: []}, []
    # dlb: parallel, jit
    for i in range(len(a)):
        for j in range(3):
            if a[i, j] > 0.9:
                groups[j].append(i)
                hits.append(1.5)
        t = i * 2
    return groups, hits, t


def out_of_range(table, size):
    found = np.zeros(size, dtype=np.int64)
    try:
        # dlb: parallel, jit
        for i in range(len(table)):
            for j in range(table.shape[1]):
                found[table[i, j]] += 1
    except IndexError as error:
        print(error, i)
    return found.tolist()


def divided(a, out):
    total, kept = 0.0, []
    try:
        # dlb: parallel, jit
        for i in range(len(a)):
            for j in range(1, 4):
                kept.append((i, j))
                total -= 1 / float(a[i] - j)
            out[i] = a[i]
    except ZeroDivisionError as error:
        print(error, i)
    return total, kept


print(near(y, 0.08))
print(counted(k, x))
print(extremes(rng.random((30, 20))))
print(extremes(rng.integers(-3, 4, (30, 20))))
print(
    extremes(np.array([[math.nan, 0.0, -0.0, 1.0], [-0.0, 0.0, 1.0, math.nan], [2.0, math.nan, 2.0, -5.0]]))
)
print(extremes(np.zeros((0, 3))), extremes(np.full((3, 4), math.nan)))
print(longest(300))
print(many(5), many(9000))
table = rng.random((20, 8))
print(in_place(table), table.sum().hex())
printed(y)
print(grouped(y))
print(out_of_range(k, 9), out_of_range(k, 8))
out = np.zeros(n)
print(divided(x, out), out.tolist(), divided(np.where(x > 0.9, 2.0, x), np.zeros(n)))


def half_noted(a, places):
    kept = []
    try:
        # dlb: parallel, jit
        for i in range(len(a)):
            if i % 8 == 7:
                for j in range(3):
                    kept.append(a[places[i], j])
    except IndexError as error:
        print(error, i)
    return kept


def refused(v):
    raise ValueError(v)


def one(v):
    return v


def unpacking(a):
    out = np.zeros(len(a))
    try:
        # dlb: parallel, jit
        for i in range(len(a)):
            (v,) = one(a[i])
            out[i] = v
    except TypeError as error:
        print(error, i)
    try:
        # dlb: parallel, jit
        for i in range(len(a)):
            out[i] = refused(a[i])
    except ValueError as error:
        print(error, i)
    return out.tolist()


places = np.arange(n)
places[7] = 99
print(half_noted(y, np.arange(n)), half_noted(y, places))
print(unpacking(x))


def comprehended(A, weights):
    """Names of comprehensions are their own."""
    found = []
    # dlb: parallel, jit
    for i in range(len(A)):
        x = A[i] * 2.0
        found.append(x)
        x = x + 1.0
        A[i] = x
        found.append([x * w + i for w in weights])
        found.append(max((w - x for w in weights), key=lambda v: -v))
    # dlb: parallel, jit
    for i in range(len(A)):
        x = A[i] * 2.0
        A[i] = x
        found.append(sum(x * i for x in weights))
    return found


print(comprehended(np.arange(9.0), (1.0, 2.0, 5.0)))
