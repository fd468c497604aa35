"""Compiled loops over rows of arrays: under names, as arguments, in loops over rows and over sequences."""

import math

import numpy as np

rng = np.random.default_rng(8)
n = 30
X = rng.random((n, 4)) - 0.5
F = np.asfortranarray(rng.random((n, 4)))
T = rng.random((n, 5, 4))
K = rng.integers(0, n, n)
P = rng.random((n, 2))
V = rng.random(n)


def dist(a, b):
    s = 0.0
    for k in range(len(a)):
        s += (a[k] - b[k]) ** 2
    return math.sqrt(s)


def norm(a):
    t = 0.0
    for v in a:
        t += v * v
    return t


def both(a, b):
    return dist(a, b) + norm(b)


def middle(m, j):
    q = m[j]
    return q[0] - q[-1] + len(q)


def early(a):
    for k, v in enumerate(a):
        if v < 0:
            return k
    return -1


def scale(a, f):
    for k in range(len(a)):
        a[k] *= f


def element(a, k):
    return a[k]


def lookup(v):
    """Reads variables of the module, which change between runs of loops."""
    for k in range(len(steps)):
        if steps[k] > v:
            return steps[k] * weight
    return -1.0


def looked_up(out):
    # dlb: parallel, jit
    for i in range(n):
        out[i] = lookup(i / n)


def distances(D):
    # dlb: parallel, jit
    for i in range(n):
        for j in range(n):
            D[i, j] = both(X[i], F[j]) + dist(T[i, :, 0], T[:, 1, 2]) * T[i, :, j % 4][1]


def rows(out):
    # dlb: parallel, jit
    for i in range(n):
        a = X[i]
        b = T[K[i], -1]
        c = T[i, :, 2]
        s = 0.0
        for k in range(a.shape[0]):
            s += a[k] * b[3 - k] + c[k]
        for j in range(3):
            d = X[j]
            s += d[0] * c[-1]
            d = F[j + 1, :]
            s -= d[2]
        k = 2
        e = X[k]
        k = 3
        s += e[0] * k + middle(X, K[i]) + middle(T[i], 1) + early(a)
        row = out[i]
        for k in range(4):
            row[k] = s + row[k]


def loops(out):
    # dlb: parallel, jit
    for i in range(n):
        s = 0.0
        for row in X:
            s += row[0] * row[-1]
        for j, row in enumerate(T[i]):
            for v in row:
                s += v * j
        for u, v in zip(X[i], V):
            s += u * v
        for j, (x, y) in enumerate(P):
            s -= x * j - y
        for (x, y), u in zip(P, F[:, 1]):
            s += (x - y) * u
        out[i] = s


def stored(M):
    # dlb: parallel, jit
    for i in range(n):
        scale(M[i], V[i])


def done_again(Z, M, found):
    """Iterations whose integers outgrow 64 bits are done again by Python, on what functions have read."""
    # dlb: parallel, jit
    for i in range(n):
        t = element(Z, i)
        Z[i] = t + 1
        m = M[i]
        t = norm(m)
        m[0] = t + 1
        found.append(int(K[i]) * 2**40 * int(K[i]) * 2**40)


def out_of_range(out):
    # dlb: parallel, jit
    for i in range(n):
        row = X[i + 1]
        out[i] = i
        out[i] += row[0]


def contributed(found, pairs):
    best = -1.0
    # dlb: parallel, jit
    for i in range(n):
        for v in X[K[i]]:
            if v > 0.3:
                found.append(v)
        for j, (x, y) in enumerate(P):
            if x + y < 0.01 * i:
                pairs.append((i, j, x))
        row = X[i]
        for u, w in zip(row, X[K[i]]):
            best = max(best, u * w)
    return best


def made_anew(out):
    # dlb: parallel, jit
    for i in range(n):
        M = np.zeros((2, 3))
        r = M[1]
        r[0] = i
        M = np.ones((2, 3))
        out[i] += r[0] + M[1, 0]


def made_once(out):
    # dlb: parallel, jit
    for i in range(n):
        M = np.zeros((2, 3))
        r = M[1]
        r[0] = i
        t = 0.0
        for z in M[:, 0]:
            t += z
        for w in M:
            t += w[0]
        out[i] = t + r[0] + len(r)


def empty(out, E):
    # dlb: parallel, jit
    for i in range(n):
        t = 1.0
        for z in E[i + 1]:
            t += z
        out[i] = t


def clipped(out):
    # dlb: parallel, jit
    for i in range(n):
        s = 0.0
        for v in X[i]:
            s += max(s - v, 0)
        out[i] = max(s - 1.0, 0)


steps, weight = np.arange(0, 1, 0.07), 2.0
looked = np.zeros(n)
for k in range(4):
    looked_up(looked)
    print(looked.tolist())
    steps[3 + k] += 0.01
    weight += k
steps = rng.random(5)
looked_up(looked)
print(looked.tolist())
D, out, M = np.zeros((n, n)), np.ones((n, 4)), rng.random((n, 4))
distances(D)
print(D.tobytes().hex()[:400], D.sum())
rows(out)
rows(out)
print(out.tolist())
one = np.zeros(n)
loops(one)
print(one.tolist())
stored(M)
print(M.tolist())
found: list[int] = []
done_again(one, M, found)
print(one.tolist(), M.tolist(), found)
clipped(one)
print(one.tolist())
lists: tuple[list[float], list[tuple[int, int, float]]] = ([], [])
print(contributed(*lists), lists)
made_once(one)
made_anew(one)
print(one.tolist())
try:
    empty(one, np.zeros((n, 0)))
except IndexError as error:
    print(error)
X = X.tolist()
distances(D)
print(D.sum())
X = np.array(X)
try:
    out_of_range(one)
except IndexError as error:
    print(error)
