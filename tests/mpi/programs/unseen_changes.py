"""Calls that the compiler does not see change what iterations share: rank 0 goes on alone, exactly."""

import functools
import operator
import random
from contextlib import ExitStack

import numpy as np
import side_module


class Particle:
    created = 0

    def __init__(self, x):
        type(self).created += 1
        self.x = x


class Tracked:
    sets = 0

    def __setattr__(self, name, value):
        Tracked.sets += 1
        object.__setattr__(self, name, value)


class Base:
    derived = []

    def __init_subclass__(cls):
        Base.derived.append(cls.__name__)


class Late:
    total = 0


def bump(self, k):
    Late.total += k
    return k


setattr(Late, "bump", bump)


def shuffled(n):
    M = np.arange(4.0 * n).reshape(n, 4)
    L = [[1, 2, 3, 4] for _ in range(n)]
    first = np.zeros(n)
    # dlb: parallel
    for i in range(n):
        np.random.default_rng(i).shuffle(M[i])
        random.Random(i).shuffle(L[i])
        first[i] = M[i, 0] + L[i][0]
    return M.tolist(), L, first.tolist()


def multiplied(n):
    A = np.arange(4.0 * n).reshape(n, 4)
    out = np.zeros(n)
    # dlb: parallel
    for i in range(n):
        operator.imul(A[i], i + 2)
        out[i] = i
    return A.tolist(), out.tolist()


def created(n):
    out = np.zeros(n)
    # dlb: parallel
    for i in range(n):
        out[i] = Particle(i).x + Particle.created
    return Particle.created, out.tolist()


def tracked(n):
    out = np.zeros(n)
    # dlb: parallel
    for i in range(n):
        t = Tracked()
        t.x = i

        class Local(Base):
            pass

        out[i] = t.x
    return Tracked.sets, len(Base.derived), out.tolist()


def late(n):
    thing, out = Late(), np.zeros(n)
    # dlb: parallel
    for i in range(n):
        out[i] = thing.bump(i)
    return Late.total, out.tolist()


def through_the_class(n):
    found, table, out = [], {}, np.zeros(n)
    # dlb: parallel
    for i in range(n):
        list.append(found, i)
        dict.update(table, {i: -i})
        with ExitStack() as stack:
            stack.callback(found.append, -i)
            out[i] = i
    return found, table, out.tolist()


def ticking(n):
    out = np.zeros(n)
    # dlb: parallel
    for i in range(n):
        out[i] = side_module.tick()
    return side_module.ticks, out.tolist()


def warming(n):
    """A cache that the first iteration fills is no contradiction, and neither is one per iteration."""
    table, out = Lazy(), np.zeros(n)
    # dlb: parallel
    for i in range(n):
        out[i] = table.scale * i
    return out.tolist(), sorted(vars(table))


class Lazy:
    @functools.cached_property
    def scale(self):
        return 2.5


for work in (shuffled, multiplied, created, tracked, late, through_the_class, ticking, warming):
    for _ in range(2):
        print(work.__name__, work(40))
