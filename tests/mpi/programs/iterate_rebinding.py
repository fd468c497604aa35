"""Routines whose names get other arrays: new ones, of other shapes and types, aliases, none at times."""

import numpy as np

n, m = 17, 3


def shown(*arrays):
    for a in arrays:
        a = np.asarray(a)
        print(a.dtype, a.shape, [float(x).hex() for x in a.ravel()[:: max(1, a.size // 5)]])


def new_each_pass():
    u, first = np.arange(float(n * m)).reshape(n, m), None
    # dlb: iterate
    for t in range(5):
        new = np.empty_like(u)
        # dlb: parallel
        for i in range(n):
            new[i] = u[i] * 0.5 + u[n - 1 - i].sum()
        u = new
        first = new if first is None else first
        if t == 3:
            shown(first)
    shown(u, new, first)


def new_from_old():
    u = np.ones((n, m))
    # dlb: iterate
    for t in range(5):
        # dlb: parallel
        for i in range(n):
            u[i] += i * t
        if t == 0:
            u = u * 2.0
        elif t == 1:
            u = np.roll(u, 1, axis=0)
        elif t == 2:
            u = np.where(u > 5.0, u, -u)
        elif t == 3:
            u = u.copy()
        v = u + 1.0 if t % 2 else u
    shown(u, v)


def other_shapes_and_types():
    u = np.arange(float(n))
    kept = [u]
    # dlb: iterate
    for t in range(8):
        # dlb: parallel
        for i in range(len(u)):
            u[i] = u[i] + i
        if t == 0:
            u = u.astype(np.float32)
        elif t == 1:
            u = np.concatenate([u, u[:5]])
        elif t == 2:
            u = u[: n // 2]
        elif t == 3:
            u = np.stack([u, u * 0.5], axis=1)
        elif t == 4:
            u = u.astype(int)
        elif t == 5:
            u = u.tolist() and u[:, 0].tolist()
        elif t == 6:
            u = np.array(u[:0])
        kept.append(u)
    shown(*kept)


def refined():
    u = np.linspace(0.0, 1.0, 4)
    # dlb: iterate
    for level in range(4):
        fine = np.zeros(2 * len(u) - 1)
        # dlb: parallel
        for i in range(len(u)):
            fine[2 * i] = u[i]
        # dlb: parallel
        for i in range(1, len(fine), 2):
            fine[i] = 0.5 * (fine[i - 1] + fine[i + 1]) + level
        u = fine
    shown(u)


def the_same_twice(turns):
    u, v = np.arange(float(n)), np.ones(n)
    w = v
    # dlb: iterate
    for t in range(turns):
        # dlb: parallel
        for i in range(n):
            v[i] = u[i] * 0.5 + w[i]
        if t == 1:
            w = u
        elif t == 2:
            u = v
        elif t == 3:
            w = w[::-1]
        elif t == 4:
            v = u[:]
        elif t == 5:
            u, w = u.copy(), np.array(v)
    shown(u, v, w)


def missing_for_a_while():
    u = scratch = None
    # dlb: iterate
    for t in range(6):
        if t in (0, 3):
            u, scratch = np.full((n, m), float(t)), [0.0] * n
        elif t == 2:
            total = float(u.sum()) + sum(scratch)
            del scratch
            u = None
        if u is None:
            continue
        # dlb: parallel
        for i in range(n):
            u[i] += i
            scratch[i] = float(u[i, 0])
        print(t, total.hex() if t > 1 else None, scratch[t].hex())
    shown(u, scratch)


def flipped_each_pass():
    u = np.arange(float(n * m)).reshape(n, m)
    base = u
    # dlb: iterate
    for t in range(5):
        # dlb: parallel
        for i in range(1, n):
            u[i] *= 0.5
        u = u[::-1]
    shown(u, base)


def of_another_shape_in_place():
    u, v = np.arange(24.0).reshape(6, 4), np.zeros(24)
    # dlb: iterate
    for t in range(6):
        # dlb: parallel
        for i in range(len(u)):
            u[i] = u[i] * 0.5 + i
        # dlb: parallel
        for i in range(len(v)):
            v[i] += 1.0
        if t == 1:
            u.shape = (12, 2)
        elif t == 2:
            v.resize((8, 3), refcheck=False)
        elif t == 3:
            u.shape = (2, 12)
            v.dtype = np.float64
        elif t == 4:
            v.resize(5, refcheck=False)
    shown(u, v)


def two_of_the_same_name():
    def relax(u, steps):
        v = u.copy()
        # dlb: iterate
        for t in range(steps):
            # dlb: parallel
            for i in range(1, len(u) - 1):
                v[i] = (u[i - 1] + u[i + 1]) * 0.5
            u, v = v, u
        return u

    small, large = np.arange(5.0) ** 2, np.arange(31.0) ** 2
    for k in range(2):
        small, large = relax(small, 3), relax(large, 2 + k)
    shown(small, large, relax(small.reshape(5, 1), 2))


new_each_pass()
new_from_old()
other_shapes_and_types()
refined()
for turns in range(8):
    the_same_twice(turns)
missing_for_a_while()
flipped_each_pass()
of_another_shape_in_place()
two_of_the_same_name()
