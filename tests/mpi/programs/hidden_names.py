"""Variables of a function that hide functions, classes and imports of the module."""

import copy
import queue

import numpy as np


def items(n):
    return n


class Total:
    pass


def read_and_stored(n):
    items = [str(k) for k in range(n)]
    # dlb: parallel
    for i in range(n):
        items[i] = items[i].upper() + "x"
    return items


def imported(n):
    queue, copy = np.arange(n) * 0.5, [1.5] * n
    # dlb: parallel
    for i in range(n):
        queue[i] += copy[i]
        copy[i] = queue[i] * 2
    return queue.tolist(), copy


def of_an_outer_function(n):
    items = [k * k for k in range(n)]

    def inner():
        # dlb: parallel
        for i in range(n):
            items[i] = items[i] + 1

    inner()
    return items


def given(n, items, Total):
    # dlb: parallel
    for i in range(n):
        items[i] = items[i] - Total[i]
    return items


print(read_and_stored(12), imported(12), of_an_outer_function(12), given(12, [3] * 12, list(range(12))))
print(items(3), copy.copy([1]), queue.Queue().empty(), Total.__name__)


class Base:
    def value(self, i):
        return i + 1


class InOtherLetters(Base):
    """Python reads names in compatibility letters as plain ones, private names and `super` too."""

    def __init__(self, n):
        self.__ﬁeld = [0.0] * n

    def step(self, __ﬀ, n):
        # dlb: parallel
        for __ﬁ in range(n):
            self.__ﬁeld[__ﬁ] = __ff * ｓuper().value(__ﬁ)
        return __fi, self.__field


print(InOtherLetters(30).step(2.0, 30))
