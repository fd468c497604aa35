"""Stores to parts of rows, to slices that may be empty, and rows that other arrays name."""

import numpy as np


def strided(A, n):
    # dlb: parallel
    for i in range(n, -1, -2):
        A[i - 2 : i] = i  # nothing where i is 0, though -2 is a row
    return A.tolist()


def shifted(A, n, m, first):
    # dlb: parallel
    for i in range(n):
        A[i + m, i % 3] = i
    # dlb: parallel
    for i in range(n):
        A[i + first[0], 0] = A[i + first[0], 1] + first[i]
    # dlb: parallel
    for i in range(n):
        A[i, None, 2] = -i
    return A.tolist()


def tiles(values, n, width):
    # dlb: parallel
    for i in range(n):
        values[2 * i : 2 * i + 2] = [i] * width
    return list(values)


def before(A, n, m):
    # dlb: parallel, WHOLE
    for i in range(n - 1, -1, -1):
        A[i] = A[i - m] + 1
    return A.tolist()


def around_the_end(A, n, width):
    # dlb: parallel
    for i in range(n):
        A[i + 5] = i
        for j in range(2 * i, 2 * i + 2):
            A[-j - 1] = A[-j - 1] * width + i
    return A.tolist()


print(strided(np.arange(30.0), 20), strided(np.arange(60.0).reshape(30, 2), 20))
print(shifted(np.arange(90.0).reshape(30, 3), 9, 3, [2, 5, 1, 0, 4, 7, 6, 8, 3]))
print(shifted(np.arange(90.0).reshape(30, 3), 9, -4, np.array([2, 5, 1, 0, 4, 7, 6, 8, 3])))
print(tiles(np.zeros(20), 9, 2), tiles([0] * 20, 9, 2), tiles([0] * 20, 9, 3), tiles([0] * 20, 9, 1))
print(before(np.arange(20.0), 20, 20), before(np.arange(20.0), 15, 15), before(np.arange(20.0), 5, -10))
print(around_the_end(np.arange(20.0), 4, 3), around_the_end(np.arange(20.0), 6, 3))


class Body:
    def __init__(self, k, kids):
        self.k, self.kids, self.pos = k, kids, [0, 0]


def attributes_of_elements(bodies):
    """What the attributes of an element hold is its own, unless two elements hold the same."""
    # dlb: parallel
    for i in range(len(bodies)):
        bodies[i].kids.append(i)
        at = bodies[i].pos
        at[0] += i
        bodies[i].pos[1] = len(bodies[i].kids)
    # dlb: parallel
    for body in bodies:
        body.kids.append(-body.k)
    print([(body.kids, body.pos) for body in bodies])


attributes_of_elements([Body(k, []) for k in range(40)])
one = []
attributes_of_elements([Body(k, one) for k in range(40)])
