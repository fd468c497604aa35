"""Compiled loops over numbers that the text has, functions with several results, truth values and powers."""

import numpy as np

rng = np.random.default_rng(4)
n = 40
grid = rng.random((n, n))
cells = rng.integers(0, 2, (n, n))
pts = rng.random((n, 2)) * 2 - 1
AROUND = ((-1, 0), (1, 0), (0, -1), (0, 1))
WEIGHTS = (0.5, 0.25, 0.125, 0.0625)
SOBEL = ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))


def pair(a, b, *, scale=1.0):
    if a > b:
        return a * scale, b
    for k in range(3):
        if a + k > b:
            return b, a * scale
    return 0.0, a


def both(x, y, /, z=2.0):
    s = x * y
    return s + z, s - z


def lives(out):
    # dlb: parallel, jit
    for i in range(n):
        for j in range(n):
            count = 0
            for di in (-1, 0, 1):
                for dj in [-1, 0, 1]:
                    if di == 0 and dj == 0:
                        continue
                    count += cells[(i + di) % n, (j + dj) % n]
            out[i, j] = count


def smoothed(out):
    # dlb: parallel, jit
    for i in range(n):
        for j in range(n):
            s, k = 0.0, 0
            for di, dj in AROUND:
                if 0 <= i + di < n and 0 <= j + dj < n:
                    s += grid[i + di, j + dj] * WEIGHTS[k]
                k += 1
            for w in WEIGHTS:
                s += w
                if s > 1.5:
                    break
            out[i, j] = s


def numbered(out):
    # dlb: parallel, jit
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            code = 0
            for k, (di, dj) in enumerate(AROUND):
                if cells[i + di, j + dj] >= cells[i, j]:
                    code |= 1 << k
            for k, w in enumerate((1, 2, 5)):
                code += k * w
                k = 3
                code += k
            out[i, j] = code


def whole_rows(out, numbers):
    # dlb: parallel, jit
    for i in range(n):
        a, b = i * 0.5, float(i) ** 1.5
        out[i] = a, b, i
        out[i] = out[i, 1], out[i, 0], out[i, 2]
        numbers[i] = [i, cells[i, 3]]


def unpacked(out):
    # dlb: parallel, jit
    for i in range(n):
        x, y = pts[i]
        a, b = pair(x, y, scale=2.0)
        c, d = both(a, b)
        x, y = y, x
        out[i] = a + 3 * b - c * d + x


def powers(out):
    # dlb: parallel, jit
    for i in range(n):
        out[i] = i**5 + (i - 3) ** 4 - 2 ** (i % 7) + 2**i % 1000 + i**2


def inside(out):
    hits = 0
    # dlb: parallel, jit
    for i in range(n):
        x, y = pts[i]
        k = 0
        k += x * x + y * y < 1
        k = k + 2 * (x > 0) - (y < x)
        out[i] = 0.5 * (x > y) + k
        hits += k
    return hits, type(hits).__name__


out, flat = np.zeros((n, n)), np.zeros(n)
lives(out)
print(out.tolist())
smoothed(out)
print(out.tolist())
unpacked(flat)
print(flat.tolist())
powers(flat)
print(flat.tolist())
print(inside(flat), flat.tolist())
pts = np.ones((n, 3))
try:
    unpacked(flat)
except ValueError as error:
    print(error)


def clamp(v):
    if v < 0.2:
        return 0.2
    if v > 0.8:
        return 0.8
    return v


def edges(out):
    # dlb: parallel, jit
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            s = 0.0
            for a in range(3):
                for b in range(3):
                    s += grid[i + a - 1, j + b - 1] * SOBEL[a][b]
            out[i, j] = s + clamp(grid[i, j])


edges(out)
print(out.tolist())


def spans(out):
    # dlb: parallel, jit
    for i in range(n):
        high, low = float("-inf"), float("inf")
        for j in range(n):
            high = max(high, float(grid[i, j]))
            if grid[i, j] < low:
                low = float(grid[i, j])
        out[i] = high - low


def scored(table, out):
    try:
        # dlb: parallel, jit
        for i in range(2):
            out[i] = table[i, 0]
    except TypeError as error:
        print(error)


spans(flat)
print(flat.tolist())
scored([[1.0, 2.0], [3.0, 4.0]], flat)
scored(grid, flat)
print(flat.tolist())
codes, triples, numbers = np.zeros((n, n)), np.zeros((n, 3)), np.zeros((n, 2), int)
numbered(codes)
whole_rows(triples, numbers)
print(codes.sum(), codes[3].tolist(), triples.tolist(), numbers.tolist())
try:
    whole_rows(grid, numbers)
except ValueError as error:
    print(error)
