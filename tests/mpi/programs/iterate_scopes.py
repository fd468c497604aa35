"""Routines at module level, in methods, closures, blocks, a bar; loops and routines in what they call."""

import sys
from contextlib import suppress

import numpy as np

n = 22
u, v = np.linspace(0.0, 1.0, n), np.zeros(n)


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[::6]])


class Bar:
    """Shows on standard error how far an iteration is, as tqdm does."""

    def __init__(self, iterable):
        self.iterable, self.done = iterable, 0

    def __iter__(self):
        for value in self.iterable:
            yield value
            self.done += 1
            print(f"{self.done}/{len(self.iterable)}", file=sys.stderr)


def scaled(a, by):
    # dlb: parallel
    for i in range(len(a)):
        a[i] *= by
    return a


def relaxed(a, steps):
    b = a.copy()
    # dlb: iterate
    for _ in range(steps):
        # dlb: parallel
        for i in range(1, len(a) - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        a, b = b, a
    return a


def mean():
    return float(u.mean())


# dlb: iterate
for t in Bar(range(4)):
    # dlb: parallel
    for i in range(n):
        v[i] = u[i] + 0.5 * t
    u, v = v, u
    print(t, mean().hex(), u[3].hex())
shown(u, v)
print(t, i)


class Model:
    steps = 3

    def __init__(self):
        self.u = np.arange(float(n))
        self.__old = np.zeros(n)
        self.history = []

    def step(self, t):
        # dlb: parallel
        for i in range(n):
            self.__old[i] = self.u[i] * 0.5 + t
        self.u, self.__old = self.__old, self.u

    def run(self, *, watch=None):
        # dlb: iterate
        for self.t in range(self.steps):
            self.step(self.t)
            # dlb: parallel
            for i in range(n):
                self.u[i] += self.__old[i] * 0.25
            if watch:
                watch(self)
            self.history.append(self.norm())
        return self

    def norm(self):
        return float(abs(self.u - self.__old).max())

    @classmethod
    def of(cls, steps):
        model = cls()
        model.steps = steps
        return model.run(watch=lambda m: print(m.t, m.u[m.t].hex(), m._Model__old[1].hex()))

    @staticmethod
    def plain(a):
        # dlb: iterate
        for _ in range(2):
            # dlb: parallel, BLOCK
            for k in range(len(a)):
                a[k] -= 1.0
        return a


def calls_with_loops(a):
    b = np.ones(n)
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            b[i] += a[i]
        scaled(a, 0.5)
        b = relaxed(b, t)
        c = scaled(b, 2.0) if t % 2 else b
    shown(a, b, c)


def closures(a):
    b, done = np.zeros(n), 0

    def advance(steps):
        nonlocal a, b, done
        # dlb: iterate
        for _ in range(steps):
            # dlb: parallel
            for i in range(n):
                b[i] = a[n - 1 - i] * 0.5 + i
            a, b = b, a
            done += 1
            if done == 3:
                return "third"
        return "all"

    print(advance(2), done, advance(0), advance(2), done)
    shown(a, b)


def in_blocks(a):
    with suppress(ZeroDivisionError), np.errstate(all="ignore"):
        if a is not None:
            for part in (a[:9], a[9:]):
                # dlb: iterate
                for t in range(3):
                    with np.errstate(divide="raise"):
                        # dlb: parallel
                        for i in range(len(part)):
                            part[i] += 1.0 / (t + 1)
                    if part[0] > 11:
                        raise ZeroDivisionError
                print(float(part.sum()).hex())
    shown(a)


def recursive(a, depth):
    # dlb: iterate
    for t in range(2):
        # dlb: parallel
        for i in range(len(a)):
            a[i] += depth
        if depth:
            recursive(a if t else a[:: depth + 1], depth - 1)
    return a


def inside_a_loop(rows):
    # dlb: parallel
    for i in range(len(rows)):
        rows[i] = relaxed(rows[i], 2)
    return rows


def drawn(a):
    rng = np.random.default_rng(3)
    # dlb: iterate
    while rng.random() < 0.8 and len(a):
        if rng.random() < 0.5:
            # dlb: parallel
            for i in range(len(a)):
                a[i] += 1.0
        else:
            # dlb: parallel
            for i in range(0, len(a), 2):
                a[i] *= 0.5
        a = a[1:]
        b = rng.permutation(a)
        a[: len(b)] = b
    return a


model = Model().run()
print(model.history, model.t)
shown(model.u, Model.of(2).u, Model.plain(np.zeros(9)))
calls_with_loops(np.ones(n))
closures(np.arange(float(n)))
in_blocks(np.zeros(n))
in_blocks(np.full(n, 9.5))
shown(recursive(np.zeros(n), 2))
shown(inside_a_loop(np.arange(60.0).reshape(6, 10)))
shown(drawn(np.arange(40.0)))
