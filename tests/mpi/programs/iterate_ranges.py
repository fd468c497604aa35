"""Routines with several loops of other ranges, lengths, distributions and directions; few rows, and none."""

import numpy as np


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[:: max(1, a.size // 6)]])


def two_ranges(n):
    u, v = np.arange(float(n * 3)).reshape(n, 3), np.zeros((n, 3))
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n // 2, n):
            v[i] = u[i] + 1.0
        # dlb: parallel
        for i in range(2, n - 3):
            u[i] += 0.5 * (v[i - 2] + v[i + 3])
        # dlb: parallel
        for i in range(0, n, 3):
            v[i] = u[i] - t
        # dlb: parallel
        for i in reversed(range(n)):
            u[i] *= 0.75
    shown(u, v)


def two_lengths(n, m):
    u, points = np.ones((n, 2)), np.linspace(0.0, 1.0, m)
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n):
            u[i] *= 1.5
        low = 0.0
        # dlb: parallel
        for k in range(m):
            points[k] = points[k] * 0.5 + u[k % n, 0] if n else points[k] - 1.0
            low = min(low, points[k])
        # dlb: parallel
        for i in range(n):
            u[i, 1] -= low
    shown(u, points)


def two_distributions(n):
    a, b = np.arange(float(n)), np.zeros(n)
    # dlb: iterate
    for t in range(4):
        # dlb: parallel, CYCLIC
        for i in range(n):
            b[i] = a[i] * (t + 1)
        # dlb: parallel, BLOCK
        for i in range(n):
            a[i] += b[n - 1 - i] * 0.125
        # dlb: parallel, CYCLIC
        for i in range(1, n - 1):
            b[i] = a[i - 1] + a[i + 1]
        # dlb: parallel, WHOLE(b)
        for i in range(n):
            a[i] -= b[(i * 7) % n] * 0.25
    shown(a, b)


def eliminated(n, deal):
    A = np.random.default_rng(n).random((n, n)) + n * np.eye(n)
    # dlb: iterate
    for k in range(n - 1):
        if deal:
            # dlb: parallel, CYCLIC
            for i in range(k + 1, n):
                A[i, k] /= A[k, k]
                A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
        else:
            # dlb: parallel
            for i in range(k + 1, n):
                A[i, k] /= A[k, k]
                A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    shown(A)


def pivoted(n):
    A, order = np.random.default_rng(n).random((n, n)), list(range(n))
    # dlb: iterate
    for k in range(n - 1):
        p = k + int(abs(A[k:, k]).argmax())
        if p != k:
            A[[k, p]] = A[[p, k]]
            order[k], order[p] = order[p], order[k]
        # dlb: parallel, CYCLIC
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    print(order)
    shown(A)


def growing(n):
    u = np.ones(n)
    # dlb: iterate
    for t in range(n + 1):
        # dlb: parallel
        for i in range(t):
            u[i] += u[i] * 0.5
        # dlb: parallel
        for i in range(n - 1, t - 1, -2):
            u[i] -= 0.25 * t
    shown(u)


for n in (0, 1, 3, 4, 17):
    two_ranges(n)
    two_lengths(n, 11)
    two_lengths(n, 2)
    two_distributions(n)
for n in (1, 2, 11):
    eliminated(n, False)
    eliminated(n, True)
    pivoted(n)
    growing(n)
