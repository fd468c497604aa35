"""Arrays that every rank needs whole and stores to, in passes over ranges that move."""

import numpy as np


def moving(n):
    A = np.zeros((n, 2))
    # dlb: iterate
    for low in range(1, n):
        # dlb: parallel, WHOLE(A)
        for i in range(low, 2 if low == 1 else n):
            A[i, 0] = A[i - 1, 1] + low
    return A[:, 0].tolist()


def narrowing(n):
    A = np.zeros((n, 1))
    # dlb: iterate
    for k in range(n):
        # dlb: parallel, WHOLE(A)
        for i in range(k, n):
            A[i, 0] += 1
    return A.tolist()


def paths(n):
    A = np.ones((n, n))
    # dlb: iterate
    for d in range(2, 2 * n - 1):
        # dlb: parallel
        for i in range(max(1, d - n + 1), min(n - 1, d - 1) + 1):
            A[i, d - i] = A[i - 1, d - i] + A[i, d - i - 1]
    return A.tolist()


print(moving(4), moving(40))
print(narrowing(6), narrowing(50))
print(paths(4), paths(25))
