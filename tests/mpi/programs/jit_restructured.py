"""Restructured loops: strips with copied columns, loops cut in parts or over slices, sums side by side."""

import math

import numpy as np

rng = np.random.default_rng(8)


def forces(x, mass, force):
    n = x.shape[0]
    # dlb: parallel, BLOCK(force), WHOLE(x, mass), jit
    for i in range(force.shape[0]):
        fx = 0.0
        fy = 0.0
        for j in range(n):
            dx = x[j, 0] - x[i, 0]
            dy = x[j, 1] - x[i, 1]
            d = dx * dx + dy * dy + 1e-3
            w = mass[j] / (d * math.sqrt(d))
            fx += w * dx
            fy += w * dy
        force[i, 0] = fx
        force[i, 1] = fy


def distances(D, X, dimensions):
    # dlb: parallel, BLOCK(D), WHOLE(X), jit
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            total = 0.0
            for k in range(dimensions):
                total += (X[i, k] - X[j, k]) * (X[i, k] - X[j, k])
            D[i, j] = math.sqrt(total)


def relaxed(A, b, x, after, first, last, step):
    n = A.shape[1]
    # dlb: parallel, BLOCK(A, b, after), WHOLE(x), jit
    for i in range(first, last, step):
        others = 0.0
        for j in range(n):
            if j != i:
                others += A[i, j] * x[j]
        after[i] = (b[i] - others) / A[i, i]


def shortened(path, row, k):
    n = path.shape[1]
    # dlb: parallel, BLOCK(path), WHOLE(row), jit
    for i in range(path.shape[0]):
        for j in range(n):
            path[i, j] = min(path[i, j], path[i, k] + row[j])


def triangles(A, B):
    n = A.shape[1]
    # dlb: parallel, BLOCK(A), WHOLE(B), jit
    for i in range(A.shape[0]):
        start = 0
        while start * start < i:
            start += 1
        for p in range(n):
            for k in range(start, n):
                A[i, k] += B[p, k] * B[p, i]


def attracted(x, mass, force):
    n = x.shape[0]
    # dlb: parallel, BLOCK(force), WHOLE(x, mass), jit
    for i in range(n):
        fx = 0.0
        for j in range(n):
            if j != i:
                dx = x[j, 0] - x[i, 0]
                dy = x[j, 1] - x[i, 1]
                d = math.sqrt(dx * dx + dy * dy)
                fx += mass[j] * dx * (1.0 / d)
        force[i, 0] = fx


for n in (1, 3, 70, 300):
    x, force = rng.random((n, 3)), np.ones((n, 3))
    forces(x, rng.random(n), force)
    print(n, force.tobytes().hex()[:600], force.sum(axis=0).tolist())
    for dimensions in (0, 1, 9, 16):
        D = np.full((n, n), -1.0)
        distances(D, rng.random((n, 16)), dimensions)
        print(D.tobytes().hex()[:300], D.sum())
    A, b, x, after = rng.random((n, n)) + 2.0, rng.random(n), rng.random(n), np.zeros(n)
    for bounds in ((0, n, 1), (n - 1, -1, -1), (1, n, 3)):
        relaxed(A, b, x, after, *bounds)
        print(after.tobytes().hex()[:600], after.sum())
    path = rng.random((n, n))
    for k in (0, n // 2, n - 1):
        path[:, k] -= 0.5
        shortened(path, path[k].copy(), k)
        print(path.tobytes().hex()[:300], path.sum())
    A = A[: min(n, 130), : min(n, 130)].copy()
    triangles(A, rng.random(A.shape))
    print(A.tobytes().hex()[-600:], A.sum())

x, force = rng.random((600, 2)), np.zeros((600, 2))
attracted(x, rng.random(600), force)
print(force.tobytes().hex()[:600], force.sum())
x[410] = np.inf
attracted(x, rng.random(600), force)
print(force[400:420].tolist())
x[410], x[300] = 0.5, 0.5
force[:] = -1.0
try:
    attracted(x, rng.random(600), force)
except ZeroDivisionError as error:
    print(error, force[:, 0].tolist().index(-1.0), force[298:301].tolist())  # others may have been done

nothing = np.zeros((0, 3))
force = np.ones((4, 3))
forces(nothing, np.zeros(0), force[:0])
try:
    forces(nothing, np.zeros(0), force)  # reads no row, since there is none
    forces(np.zeros((3, 3)), np.zeros(3), force)
except IndexError as error:
    print(error, force.tolist())
try:
    distances(np.zeros((5, 5)), np.zeros((5, 2)), 3)
except IndexError as error:
    print(error)
try:
    shortened(np.zeros((4, 4)), np.zeros(4), 7)
except IndexError as error:
    print(error)
path = rng.random((6, 6))
shortened(path, path[-2].copy(), -2)
print(path.tolist())
