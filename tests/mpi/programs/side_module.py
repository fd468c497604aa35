"""A module beside the program, whose data the program changes."""

import numpy as np

scale = 1
weights = np.arange(12.0)


def scaled(x):
    return float(x * scale + weights[x])


table = None


def sum_of_table():
    return float(table.sum())


ticks = 0


def tick():
    global ticks
    ticks += 1
    return ticks


def change_at(seen, at, i):
    if i == at:
        seen[0] += 1
    return i * 0.5 + seen[0]


class Gauge:
    """What a class holds, what an object of it is told by its class, and what keeps count of objects."""

    unit = 1
    marks = [1]
    made = 0
    only = None

    def __init__(self, value):
        type(self).made += 1
        self.value = value

    def read(self):
        return self.value * self.unit + len(self.marks)

    def rounded(self):
        return round(self.value)

    @classmethod
    def shared(cls):
        if cls.only is None:
            cls.only = cls(2)
        return cls.only


class Logged:
    names = []

    def __setattr__(self, name, value):
        Logged.names.append(name)
        self.__dict__[name] = value


def raised(x):
    return x**raised.power


raised.power = 1


def seen_before(x, seen=[]):
    seen.append(x)
    return len(seen)


def times_seen(x):
    return x * len(seen_before.__defaults__[0])


def _kept():
    value = 1

    def keep(x):
        nonlocal value
        value = x

    return keep, lambda x: x * value


keep, times_kept = _kept()
__private = 1


def set_private(x):
    global __private
    __private = x


def times_private(x):
    return x * __private


def helped(x):
    return x


def through_helpers(x):
    return helped(x) + Gauge.shared().rounded()


class Meter:
    """Taking its level, or adding to it, counts."""

    reads = 0

    def __init__(self, level):
        self._level = level

    @property
    def level(self):
        Meter.reads += 1
        return self._level

    def __add__(self, other):
        return self.level + other


class Walker:
    def __init__(self, x):
        self.x, self.trail = x, []

    def step(self, dt):
        self.x += dt * self.x
        self.trail.append(self.x)

    def meet(self, other):
        other.trail.append(self.x)
        self.step(0.5)
