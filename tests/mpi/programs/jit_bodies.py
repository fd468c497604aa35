"""Bodies that are compiled: what they store, contribute, leave, and what of them is left to Python."""

import math

import numpy as np

LIMIT = 60


def escape(cx, cy):
    x = y = 0.0
    for k in range(LIMIT):
        if x * x + y * y > 4.0:
            return k
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
    return LIMIT


class Grid:
    def __init__(self, n):
        self.values = np.zeros((n, n))
        self.scale = 0.25


rng = np.random.default_rng(3)
n = 37
X, Y, Z = rng.random((n, n)), rng.random((n, n)), np.zeros((n, n))
# dlb: parallel, BLOCK, WHOLE(Y), jit
for i in range(n):
    for j in range(n):
        for k in range(n):
            Z[i, j] += X[i, k] * Y[k, j]
print(Z.tobytes().hex()[:400], Z.sum())

A, B, C, factor = np.zeros(n), rng.random(n), rng.random(n), 1.7
# dlb: parallel, BLOCK, WHOLE(B, C), jit
for i in range(n):
    for k in range(i, n):
        A[i] += factor * B[k] * C[k - i]
print(A)

counts, total, best, where, seen = np.zeros((n, n), dtype=np.int64), 0, -1, None, []
# dlb: parallel, jit
for i in range(n - 1, -1, -1):
    worst = 0
    for j in range(n):
        count = escape(-2.0 + 3.0 * j / n, -1.5 + 3.0 * i / n)
        counts[i, j] = count
        if count > worst:
            worst = count
    total += worst
    if worst > best:
        best, where = worst, i
    if worst % 2 == 1:
        seen.append((i, worst))
print(counts.sum(), total, best, where, seen, worst)

# dlb: parallel, CYCLIC, jit
for i in range(0, n, 2):
    counts[i, 0] = i * i - counts[i, 1]
print(counts[:, 0])

order, weights = rng.integers(0, n, n), rng.random(n)
order[5] = -1
chosen, histogram, found = np.zeros(n), [0] * n, []
# dlb: parallel, jit
for i in range(n):
    value = weights[order[i]] * 2.0
    chosen[i] = value / weights[i] + (weights[i - 1] if i > 0 else 0.0) + math.sin(value) ** 3
    histogram[order[i]] += 1
    found.append(value)
    if value > 1.5:
        print(f"{i}: {value!r}")
print(chosen.tolist(), histogram, found, value)

pairs = 0
# dlb: parallel, jit
for i in range(n):
    for j in range(i):
        if weights[i] > weights[j]:
            pairs += 1
print(pairs)

grid = Grid(n)
# dlb: parallel, jit
for i in range(1, n - 1):
    for j in range(1, n - 1):
        around = Z[i - 1, j] + Z[i + 1, j] + Z[i, j - 1] + Z[i, j + 1]
        grid.values[i, j] = grid.scale * around
print(grid.values.sum())

numbers, halves = [float(k) for k in range(n)], np.zeros(n)
# dlb: parallel, jit
for i in range(n):
    halves[i] = numbers[i] / 2
print(halves.tolist())

# dlb: parallel, jit
for i in range(n):
    halves[i] += numbers[-i]
print(halves.tolist())

divisors = [3, 1, 4, 1, 5, 9, 2, 6, 0, 5]
quotients = np.zeros(10)
try:
    # dlb: parallel, jit
    for i in range(10):
        quotients[i] += 1.0
        quotients[i] += 7 / divisors[i]
except ZeroDivisionError as error:
    print(error, i, quotients[:9])

try:
    # dlb: parallel, jit
    for i in range(n + 1):
        halves[i] = 2.0 * i
except IndexError as error:
    print(error, i, halves[-1])
