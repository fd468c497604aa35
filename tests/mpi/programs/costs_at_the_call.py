"""Costs whose names belong where the loop stands: without a value, of a class, that cannot be sent."""

import threading

import numpy as np

lock = threading.Lock()
numbers = (k for k in range(3))
box = np.arange(1, 401, dtype=np.uint8)


def told(n, stream):
    A = np.zeros(n)
    if n > 500:
        factor = 3  # noqa: F841 - the cost of the loop reads it
    # dlb: parallel, cost(i + factor)
    for i in range(n):
        A[i] = i * 0.1
    held = lock  # noqa: F841 - the cost of the loop reads it
    # dlb: parallel, cost(box[i] + (held is None) + (stream is None))
    for i in range(n):
        A[i] += 1 / (i + 1)
        last = i
    pairs = [(k,) for k in range(n)]
    # dlb: parallel, cost(a + last)
    for (a,) in pairs:
        A[a] += a * last
    # dlb: parallel, cost(a + 1)
    for a, in pairs:  # fmt: skip
        A[a] += a
    return A


class Table:
    def __init__(self, n):
        self.__n = n
        self.__rows = [0] * n

    def fill(self, __first):
        # dlb: parallel, cost(self.__n * __i**2 + __first + 1)
        for __i in range(self.__n):
            self.__rows[__i] = __i + __first
        # dlb: parallel, cost(sum([__i, __first]) + 1)
        for __i in range(self.__n):
            self.__rows[__i] += __i
        return self.__rows


def measured(n):
    A = np.zeros(n)
    for _ in range(4):
        # dlb: parallel, cost(n - i), profile(group=2, every=1, threshold=0)
        for i in range(n):
            for j in range(i):
                A[i] += j
    return A


for size in (1, 9, 200):
    print(told(size, numbers).tolist()[-5:], sum(Table(size).fill(3)), measured(size).sum())
print(next(numbers), lock.locked())
