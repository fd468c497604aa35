"""Calls that the compiler does not see change what iterations share: rank 0 goes on alone, exactly."""

import decimal
import functools
import operator
import warnings
from collections import defaultdict
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


class Told:
    def __init__(self):
        self.count = 0

    def __set__(self, owner, value):
        self.count += 1
        owner.__dict__["told"] = value + self.count


class Item:
    told = Told()

    def __init__(self):
        self.inner = Tracked()


class Derived(side_module.Gauge):
    pass


made = []


def noting(cls):
    plain = cls.__init__

    def noted(self, *arguments):
        made.append(cls.__name__)
        plain(self, *arguments)

    cls.__init__ = noted
    return cls


@noting
class Noted:
    def __init__(self, x):
        self.x = x


class Holder:
    def __init__(self, meter):
        self.meter = meter


def unnamed(n):
    """Decorators of classes; properties and operators of classes beside the file, deep in what is read."""
    out, holders = np.zeros(n), [Holder(side_module.Meter(k)) for k in range(n)]
    # dlb: parallel
    for i in range(n):
        out[i] = Noted(i).x
    # dlb: parallel
    for i in range(n):
        out[i] += holders[i].meter.level
    # dlb: parallel
    for i in range(n):
        out[i] += holders[i].meter + 1
    return len(made), side_module.Meter.reads, out.tolist()


def items(n):
    """What items share is their classes, in the file and beside it, and the classes of their parts."""
    things, logged, before = (
        [Item() for _ in range(n)],
        [side_module.Logged() for _ in range(n)],
        Tracked.sets,
    )
    # dlb: parallel
    for thing in things:
        thing.inner.x = 4
    # dlb: parallel
    for i in range(n):
        things[i].told = i
    # dlb: parallel
    for thing in logged:
        thing.x = 3
    told = [vars(thing)["told"] for thing in things]
    return Tracked.sets - before, told, vars(Item)["told"].count, len(side_module.Logged.names)


def beside(n):
    out = np.zeros(n)
    # dlb: parallel
    for i in range(n):
        out[i] = side_module.Gauge(i).value + Derived(i).value
    return side_module.Gauge.made, Derived.made, out.tolist()


def settings(n):
    out, decimals = [None] * n, [None] * n
    # dlb: parallel
    for i in range(n):
        np.set_printoptions(precision=2 + i % 7)
        out[i] = str(np.array([1 / 3]))
    # dlb: parallel
    for i in range(n):
        decimal.getcontext().prec = 5 + i
        warnings.filterwarnings("ignore", message=f"no {i}")
        decimals[i] = str(decimal.Decimal(1) / 7)
    texts = [str(entry[1]) for entry in warnings.filters]
    return out, str(np.array([1 / 7])), decimals, decimal.getcontext().prec, sum("'no " in t for t in texts)


def late(n):
    """Found late, and undone: rank 0 does its iterations in order."""
    thing, out = Late(), np.zeros(n)
    # dlb: parallel, schedule(none)
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


for work in (
    *(multiplied, created, tracked, unnamed, items, beside, settings, late),
    *(through_the_class, ticking, warming),
):
    for _ in range(2):
        print(work.__name__, work(80))


def numbered(ids, words):
    """A defaultdict that only the caller knows grows where it is read."""
    found = []
    # dlb: parallel
    for word in words:
        found.append(ids[word])
    return found


class Index:
    def __init__(self, places):
        self.places = places

    def counts(self, words):
        found = []
        # dlb: parallel
        for word in words:
            found.append(len(self.places[word]))
        return found


WORDS = "a b c a b d e a f b g h a i j k".split()
ids = defaultdict(lambda: len(ids))
print(numbered(ids, WORDS), dict(ids))
index = Index(defaultdict(list))
index.places["a"].append(1)
print(index.counts(WORDS), dict(index.places))
print(index.counts(WORDS), dict(index.places))
