"""Routines in which vectors are read whole by every row and updated by rows: solvers, bodies, paths."""

import numpy as np


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[:: max(1, np.size(a) // 6)]])


def dot(x, y):
    return float((x * y).sum())


def system(n):
    A = np.random.default_rng(n).random((n, n))
    return A + A.T + 2.0 * n * np.eye(n), np.arange(1.0, n + 1.0)


def jacobi(A, b, tolerance):
    n = len(A)
    x, new = np.zeros(n), np.empty(n)
    # dlb: iterate
    for t in range(50):
        change = 0.0
        # dlb: parallel, BLOCK(A, b, new), WHOLE(x)
        for i in range(n):
            new[i] = (b[i] - (A[i] * x).sum() + A[i, i] * x[i]) / A[i, i]
            change = max(change, abs(new[i] - x[i]))
        x, new = new, x
        if change < tolerance:
            break
    print(t, float(change).hex())
    return x


def powers(A, steps):
    n = len(A)
    x, y = np.ones(n), np.zeros(n)
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel
        for i in range(n):
            y[i] = (A[i] * x).sum()
        size = float(abs(y).max())
        x = y / size
    return x, size


def conjugate_gradients(A, b):
    n = len(A)
    x, r, p, q = np.zeros(n), b.copy(), b.copy(), np.zeros(n)
    rho = dot(r, r)
    # dlb: iterate
    while rho > 1e-20 * n:
        # dlb: parallel
        for i in range(n):
            q[i] = (A[i] * p).sum()
        alpha = rho / dot(p, q)
        x += alpha * p
        r -= alpha * q
        last, rho = rho, dot(r, r)
        # dlb: parallel
        for i in range(n):
            p[i] = r[i] + (rho / last) * p[i]
    return x


def gauss_seidel_by_blocks(A, b, size):
    n = len(A)
    x = np.zeros(n)
    # dlb: iterate
    for t in range(3):
        for first in range(0, n, size):
            old = x.copy()
            # dlb: parallel
            for i in range(first, min(n, first + size)):
                x[i] = (b[i] - (A[i] * old).sum() + A[i, i] * old[i]) / A[i, i]
    return x


def bodies(n, steps):
    rng = np.random.default_rng(n)
    place, speed = rng.random((n, 3)), rng.random((n, 3)) * 0.1
    mass = rng.random(n)
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel, WHOLE(place, mass)
        for i in range(n):
            away = place - place[i]
            distance = (away * away).sum(axis=1) + 0.01
            speed[i] += 0.01 * (mass[:, None] * away / (distance * np.sqrt(distance))[:, None]).sum(axis=0)
        # dlb: parallel
        for i in range(n):
            place[i] += 0.01 * speed[i]
        energy = 0.0
        # dlb: parallel
        for i in range(n):
            energy += 0.5 * mass[i] * (speed[i] ** 2).sum()
    print(float(energy).hex())
    return place, speed


def shortest_paths(D):
    """Floyd and Warshall: row k is read by all."""
    n = len(D)
    # dlb: iterate
    for k in range(n):
        row = D[k].copy()
        # dlb: parallel
        for i in range(n):
            for j in range(n):
                D[i, j] = min(D[i, j], D[i, k] + row[j])
    return D


def shortest_paths_in_rows(D):
    n = len(D)
    # dlb: iterate
    for k in range(n):
        # dlb: parallel
        for i in range(n):
            if i != k:
                D[i] = np.minimum(D[i], D[i, k] + D[k])
    return D


for n in (1, 2, 5, 24):
    A, b = system(n)
    shown(jacobi(A, b, 1e-6), *powers(A, 5))
    shown(conjugate_gradients(A, b), gauss_seidel_by_blocks(A, b, 7))
shown(*bodies(13, 4))
roads = np.random.default_rng(0).integers(1, 90, (15, 15)).astype(float)
shown(shortest_paths(roads.copy()), shortest_paths_in_rows(roads.copy()))
