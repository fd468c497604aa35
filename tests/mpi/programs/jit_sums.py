"""What compiled iterations add up is combined in whole chunks, with the bits of one after the other."""

import math
from fractions import Fraction

import numpy as np

n = 3001
a, k = np.random.default_rng(3).normal(size=n) * 1e3, np.random.default_rng(4).integers(-50, 50, n)


def sums(start, count, first, factor):
    s, t, p, c, d = start, count, factor, 0, first
    # dlb: parallel, jit
    for i in range(n):
        x = (i + 0.5) * 1e-3
        s += 4.0 / (1.0 + x * x)
        t += k[i]
        p *= 1.0 + x * 1e-6
        c = c + k[i] * 2
        d -= a[i]
    return [(type(each).__name__, each) for each in (s, t, p, c, d)]


for start in (0, 0.0, -0.0, np.float64(2.5), 10**30, Fraction(1, 3), 2**60):
    print(sums(start, 0, start, start))
print(sums(1.0, 1.5, 0, np.int64(3)), sums(1e308, np.int64(7), 2.0, 1e300))


def dealt(m):
    s, q = 0.0, 0.0
    # dlb: parallel, jit, CYCLIC
    for i in range(m):
        s += math.sqrt(i)
        q += math.sqrt(i) * 0.1
    return s.hex(), q.hex()


def folded(m):
    s = 0.0
    # dlb: parallel, jit
    for i in range(m):
        x = 0.0
        for j in range(i):
            x += 1.0 / (i + j + 1.0)
        s += x
    return s.hex()


def beside_products(m):
    # Long enough for two orders of the inner loops to be timed in one chunk.
    x, y, z, s = np.resize(k * 0.5, (m, m)), np.resize(a, (m, m)), np.zeros((m, m)), 0.0
    # dlb: parallel, jit
    for i in range(m):
        for j in range(m):
            t = 0.0
            for q in range(m):
                t += x[i, q] * y[q, j]
            z[i, j] = t
        s += z[i, 5]
    return s.hex(), z.sum().hex()


def not_finite(values):
    s, p = 0.0, 1.0
    # dlb: parallel, jit
    for i in range(len(values)):
        s += values[i] * 1e300
        p *= values[i]
    return s, p


def failing(m, places):
    s, t = 0.0, 0
    try:
        # dlb: parallel, jit
        for i in range(m):
            s += a[places[i]] * 0.5
            t += k[i]
    except IndexError as error:
        print(error, i)
    return s.hex(), t


print(dealt(n), dealt(1), dealt(0), folded(200), folded(3), beside_products(80))
with np.errstate(all="ignore"):
    for values in (a, np.array([1e10, -1e10] * 40), np.array([np.nan, 1.0] * 9), np.array([np.inf, 0.0] * 9)):
        print(not_finite(values.tolist()), not_finite(values))
places = np.arange(n)
print(failing(n, places))
places[1234] = n
places[2999] = -1
print(failing(n, places), failing(1200, places))
