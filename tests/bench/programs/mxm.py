"""MXM (Zaki, Li, Parthasarathy, figure 1.5): Z = X Y, rows of X and Z in blocks, Y everywhere.

Rows of X have the paper's length, and are what moves. Z has few columns; the time of a row is paced.

    python mxm.py N,R SECONDS      N rows of R elements, SECONDS for each
"""

import hashlib

import numpy as np
from pacing import arguments, begin_load, clock, spend

COLUMNS = 4


def multiply(X, Y, Z, seconds):
    # dlb: parallel, BLOCK(X, Z), WHOLE(Y)
    for i in range(len(X)):
        began = clock()
        Z[i] = (X[i, :, None] * Y).sum(axis=0)
        spend(began, seconds)


def main(sizes, seconds):
    n, r = sizes
    X = np.arange(n * r, dtype=float).reshape(n, r) % 997 / 7
    Y = np.arange(r * COLUMNS, dtype=float).reshape(r, COLUMNS) % 89 / 3
    Z = np.zeros((n, COLUMNS))
    begin_load()
    multiply(X, Y, Z, seconds[0])
    print(hashlib.sha256(Z.tobytes()).hexdigest())


if __name__ == "__main__":
    main(*arguments())
