"""Nests over cells written as one loop: cut within rows, in a flat view of the array or by two subscripts."""

import numpy as np


def flat(n, m):
    A = np.zeros((n, m))
    a = A.reshape(-1)
    # dlb: parallel, BLOCK(a), cost(k // m + k % m + 1)
    for k in range(n * m):
        i, j = divmod(k, m)
        a[k] = sum(range(i + j)) + 0.1 * i
    return A


def by_two(n, m):
    A = np.ones((n, m))
    # dlb: parallel
    for k in range(n * m):
        A[k // m, k % m] += sum(range(k // m + k % m)) + 0.1 * (k // m)
    return A


for n, m in ((20, 20), (3, 7), (1, 40), (5, 1), (0, 4)):
    A, B = flat(n, m), by_two(n, m)
    print(n, m, A.shape, A.sum(), (B - 1 == A).all() or abs(B - 1 - A).max(), A[:2].tolist())
