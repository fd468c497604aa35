"""Loops of some microseconds that rank 0 runs alone: what decides their results changes in between."""

import sys

import numpy as np

SHIFT, SCALE = 1, 0.5


def smoothed(u, v, low, high, factor):
    # dlb: parallel, BLOCK, jit
    for i in range(low, high):
        v[i] = factor * (u[i - SHIFT] + u[i + SHIFT]) * SCALE


def scaled(out, a, k):
    # dlb: parallel, BLOCK, jit
    for i in range(len(a)):
        out[i] = a[i] * k + i


def multiplied(out, a, b):
    # dlb: parallel, BLOCK, jit
    for i in range(len(out)):
        for j in range(len(b)):
            for k in range(len(b)):
                out[i, j] += a[i, k] * b[k, j]


def picked(out, a, places):
    # dlb: parallel, BLOCK, jit
    for i in range(len(out)):
        out[i] = a[places[i]]


def shown(name, *arrays):
    print(name, *(array.tobytes().hex()[-48:] for array in arrays))


u, v = np.linspace(0.0, 1.0, 40), np.zeros(40)
for step in range(60):
    smoothed(u, v, 3, 37 - step % 3, 1.0 + step)
    u, v = v, u
    if step == 20:
        SHIFT = 2
    if step == 30:
        SCALE = 0.25
    if step == 40:
        u = u.copy()
    if step == 50:
        SHIFT = 3
shown("smoothed", u, v)

# Arrays that share memory, of another type, with other steps, or without any element.
a, out = np.arange(40.0), np.zeros(80)
for step in range(40):
    scaled(out[step % 2 :: 2], a, step)
    scaled(a[1:], a[:-1], 0.5) if step % 9 == 8 else None
shown("views", a, out)
rows, left, apart = np.linspace(0.0, 0.1, 90).reshape(10, 9), np.full((9, 9), 0.25), np.zeros((9, 9))
for step in range(30):
    multiplied(rows[1:] if step % 10 == 9 else apart, left, rows[:-1])
shown("shared", rows, apart)
whole, numbers = np.arange(40), np.zeros(40, dtype=np.int64)
for step in range(12):
    scaled(numbers, whole, step)
    scaled(numbers.astype(np.float64), whole, step)
    scaled(numbers[:0], whole[:0], step)
    scaled(numbers, whole, step + 0.5)
    scaled(numbers, whole, True)
shown("types", numbers)
for power in (10, 30, 59, 61, 62):
    try:
        scaled(numbers, whole, 1 << power)
    except OverflowError as error:
        print("overflow", power, error)
shown("large", numbers)

# Subscripts from the end, and out of range: the exception and what was stored before it.
places, found = np.arange(40)[::-1].copy(), np.zeros(40)
for step in range(30):
    if step in (10, 11):
        places[7] = -3
    if step == 20:
        places[30] = 40
    try:
        picked(found, a, places)
    except IndexError as error:
        print(step, error)
        places[30] = 0
    found[step] += step
shown("picked", found)

# Divisions that numpy reports, once errors are raised.
with np.errstate(over="raise"):
    try:
        smoothed(u * 1e308, v, 3, 37, 1e300)
    except FloatingPointError as error:
        print("raised", error)
for step in range(5):
    smoothed(u, v, 3, 37, 1.0)
shown("after", v)
print("done", file=sys.stderr)
