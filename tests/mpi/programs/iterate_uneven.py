"""Routines whose iterations do not cost the same, nor twice the same, so that rows move in mid-pass."""

import numpy as np

n, m = 48, 6


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[:: max(1, np.size(a) // 6)]])


def work(steps):
    s = 0.0
    for k in range(steps):
        s += k * 0.5
    return s


def by_chance(deal):
    rng = np.random.default_rng(9)
    u, v = rng.random((n, m)), np.zeros((n, m))
    # dlb: iterate
    for t in range(5):
        steps = (rng.random(n) ** 4 * 9000).astype(int)
        if deal:
            # dlb: parallel, CYCLIC
            for i in range(1, n - 1):
                v[i] = u[i - 1] + u[i + 1] + work(steps[i]) * 1e-9
        else:
            # dlb: parallel
            for i in range(1, n - 1):
                v[i] = u[i - 1] + u[i + 1] + work(steps[i]) * 1e-9
        v[0] = v[n - 2]
        u, v = v, u
        u *= 0.5
    shown(u, v)


def a_front(steps):
    """What costs much moves through the rows."""
    u, v = np.zeros((n, m)), np.zeros((n, m))
    u[:8] = 1.0
    # dlb: iterate, tolerance=0.01, every=2
    for t in range(steps):
        # dlb: parallel
        for i in range(n):
            extra = work(3000 if 8 * t <= i < 8 * t + 8 else 0)
            v[i] = 0.25 * (u[i - 1] + 2.0 * u[i] + u[(i + 1) % n]) + extra * 1e-9
        u, v = v, u
        if t == steps // 2:
            print(float(u[n // 3, 0]).hex())
            u[n // 3] = 2.0
    shown(u, v)


def triangles():
    A, x = np.random.default_rng(1).random((n, n)), np.ones(n)
    y = np.zeros(n)
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            for j in range(i, n):
                y[i] += A[i, j] * x[j]
        # dlb: parallel, nofold
        for i in range(n):
            s = 0.0
            for j in range(i):
                s += A[i, j]
            x[i] = 0.5 * x[i] + y[n - 1 - i] / (s + 1.0)
        y[:] = 0.0
    shown(x)


def told_and_measured():
    u = np.ones((n, m))
    sizes = [(7 * i) % 31 for i in range(n)]
    # dlb: iterate
    for t in range(6):
        # dlb: parallel, cost(sizes[i] + 1)
        for i in range(n):
            u[i] += work(60 * sizes[i]) * 1e-6
        # dlb: parallel, profile(group=4, every=3, threshold=0.05)
        for i in range(n):
            u[i] *= 0.5 + work(60 * (i if t < 3 else n - i)) * 1e-9
        # dlb: parallel, CYCLIC, cost(n - i)
        for i in range(n):
            u[i] -= u[i].sum() * 0.125
    shown(u)


def by_turns_worth_sharing():
    u, v = np.ones((n, m)), np.zeros((n, m))
    # dlb: iterate
    for t in range(8):
        steps = 4000 if t in (1, 2, 5) else 0
        # dlb: parallel
        for i in range(n):
            v[i] = 0.5 * (u[i] + u[i - 1]) + work(steps) * 1e-9
        u, v = v, u
        if t % 3 == 0:
            u[t] = v[t + 1] + 1.0
    shown(u, v)


def named_strategies():
    u, v = np.ones((n, m)), np.zeros((n, m))
    # dlb: iterate
    for t in range(3):
        # dlb: parallel, schedule(LDDLB, group=2)
        for i in range(1, n):
            v[i] = u[i] + u[i - 1] * 0.5 + work(400 * (i % 9)) * 1e-9
        # dlb: parallel, schedule(GCDLB)
        for i in range(n - 1):
            u[i] = v[i + 1] - v[i] * 0.25 + work(300 * (i // 9)) * 1e-9
        # dlb: parallel, schedule(none)
        for i in range(n):
            v[i] *= 0.5
    shown(u, v)


by_chance(False)
by_chance(True)
a_front(6)
triangles()
told_and_measured()
by_turns_worth_sharing()
named_strategies()
