"""Routines that end in every way: no pass, `break`, `return`, `else`, exceptions, by a header."""

import numpy as np

n = 19


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[::5]])


def by_the_header(limit):
    u, passes = np.linspace(0.0, 1.0, n), 0
    # dlb: iterate
    while u[n // 2] < limit and not (u > 9.0).any():
        # dlb: parallel, BLOCK
        for i in range(n):
            u[i] = u[i] * 1.25 + 0.125
        passes += 1
    else:
        print("else", passes)
    shown(u)


def with_continue_and_break(steps, tolerance):
    u, v, tried = np.arange(float(n)), np.zeros(n), []
    # dlb: iterate
    for t in range(steps):
        if t % 3 == 1:
            u[t] = -1.0
            continue
        error = 0.0
        # dlb: parallel
        for i in range(1, n - 1):
            v[i] = (u[i - 1] + u[i] + u[i + 1]) / 3.0
            error = max(error, abs(v[i] - u[i]))
        v[0], v[-1] = u[0], u[-1]
        tried.append(error)
        if error < tolerance:
            print("enough", t)
            break
        u, v = v, u
    else:
        print("else", steps)
    print([e.hex() for e in tried])
    shown(u, v)


def returned(steps):
    u, v = np.ones(n), np.zeros(n)
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel
        for i in range(n):
            v[i] = u[i] + i * t
        if t == 4:
            return v, u, t
        u, v = v, u
    return u, v, -1


def returned_from_within(u):
    # dlb: iterate
    for t in range(9):
        # dlb: parallel
        for i in range(n):
            u[i] += 1.0
        if t == 2:
            return float(u.sum())
    return None


class Enough(Exception):
    pass


def failing(place, where, u):
    # dlb: iterate
    for t in range(6):
        # dlb: parallel, BLOCK
        for i in range(n):
            if t == 3 and where == "body" and i >= place:
                raise Enough(t, i)
            u[i] = u[i] * 0.5 + i
        if t == 4 and where == "code":
            raise Enough(u[place], t)
        if t == 4 and where == "element":
            u[n + 3] = 0.0


def caught_inside(u, v):
    # dlb: iterate
    for t in range(5):
        try:
            # dlb: parallel
            for i in range(n):
                v[i] = u[i] / (t - 2) if i != 7 else u[i] // (t - 2)
        except ZeroDivisionError as error:
            print(t, i, error, v[i].hex(), u[i - 1].hex())
            v[:] = [1.0] * n
            continue
        finally:
            u[t] += 1.0
        u, v = v, u
    shown(u, v)


def with_a_generator(u):
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n):
            u[i] += 0.5
        yield u.sum()
        u[0] = t


by_the_header(3.0)
by_the_header(-1.0)
for steps, tolerance in ((0, 1.0), (1, 0.0), (9, 0.0), (60, 1.0)):
    with_continue_and_break(steps, tolerance)
for steps in (2, 5, 9):
    shown(*returned(steps))
print(returned_from_within(np.zeros(n)))
for where in ("body", "code", "element", "nowhere"):
    for place in (0, n - 1):
        u = np.arange(float(n))
        try:
            failing(place, where, u)
        except (Enough, IndexError) as error:
            print(where, type(error).__name__, error)
        shown(u[: place if where == "body" else n])
caught_inside(list(map(float, range(n))), [0.0] * n)
field = np.zeros(n)
for total in with_a_generator(field):
    field[1] += total
shown(field)
u = np.zeros(n)
# dlb: iterate
for t in range(3):
    # dlb: parallel
    for i in range(n):
        u[i] += 1.0 / (5 * t + i - 20)
    shown(u)
