"""Work given by the user, in all forms."""

from math import log

weight = [3, 1, 4, 1, 5, 9]
items = [[1], [2, 3], [4, 5, 6], [], [7], [8, 9]]


def given(A, n, size):
    # dlb: parallel, cost(n - i)
    for i in range(n):
        A[i] += 1
    # dlb: parallel, cost(2.5)
    for i in range(n):
        A[i] += 2
    # dlb: parallel, cost(weight[i] + size), nofold
    for i in range(n):
        A[i] += 3
    # dlb: parallel, cost(max(i - 2, 1)), fold
    for i in range(n):
        A[i] += 4
    # dlb: parallel, cost(sum(items[i]) + 1)
    for i in range(n):
        A[i] += 5
    # dlb: parallel, cost(len(part) + 1)
    for i, part in enumerate(items):
        A[i] += len(part)
    # dlb: parallel, cost(cumulative=x**1.43 * log(x))
    for x in range(3, n):
        A[x] += 6
    # dlb: parallel, cost(fit=[(0, 0.0), (n // 2, 1.5), (n, 4)])
    for i in range(n):
        A[i] += 7
    # dlb: parallel, profile
    for i in range(n):
        A[i] += 8
    # dlb: parallel, profile(group=2, threshold=0.25), cost(n - i)
    for i in range(n):
        A[i] += 9
    return A


class Solver:
    def __init__(self, n):
        self.__n = n
        self.__rows = [0] * n

    def step(self, __first):
        # dlb: parallel, cost(self.__n - __i + __first)
        for __i in range(self.__n):
            self.__rows[__i] = __i
        # dlb: parallel, cost(sum([__i, __first]) + len(__items))
        for __i, __items in enumerate(items):
            self.__rows[__i] += len(__items)
        return self.__rows


print(given([0] * 6, 6, 2), Solver(6).step(3))
