"""TRFD (Zaki, Li, Parthasarathy, section 1.5.3): two loops over columns, a transpose between them.

Columns have the paper's length. L1 is uniform; in L2 a column costs by its row of the triangle of pairs, and
columns are folded. What is computed of a column is little; its time is paced.

    python trfd.py N FIRST,SECOND      N(N+1)/2 columns: FIRST seconds each, SECOND seconds a unit of work
"""

import hashlib
from math import isqrt

import numpy as np
from pacing import arguments, begin_load, clock, spend


def work(n, i):
    """Twice the operations of column i of L2, counted from 1; r is the row of the pair numbered i."""
    r = (1 + isqrt(8 * i - 7)) // 2
    return 2 * n**3 + (6 - r) * n**2 + (4 - 2 * r - r * r) * n + r - r * r


def first_loop(A, B, seconds):
    # dlb: parallel, BLOCK(A, axis=1), WHOLE(B)
    for i in range(len(B)):
        began = clock()
        A[:, i] = A[:, i] * 0.75 + B
        spend(began, seconds)


def second_loop(A, B, n, unit):
    # dlb: parallel, BLOCK(A, axis=1), WHOLE(B), fold, cost(work(n, i + 1))
    for i in range(len(B)):
        began = clock()
        A[:, i] = A[:, i] * 0.5 - B
        spend(began, unit * work(n, i + 1))


def main(sizes, seconds):
    n = sizes[0]
    m = n * (n + 1) // 2
    A = np.arange(m * m, dtype=float).reshape(m, m) % 1013 / 3
    B = np.arange(m, dtype=float) / 7
    begin_load()
    first_loop(A, B, seconds[0])
    A = A.T.copy()
    begin_load()
    second_loop(A, B, n, seconds[1])
    print(hashlib.sha256(A.tobytes()).hexdigest())


if __name__ == "__main__":
    main(*arguments())
