"""sgemv and LU whose rows take a given time: what ranks of emulated speeds do is then that of the examples.

    dlbc run -n 4 --strategy none --weights .. --speeds .. paced.py sgemv ROWS SECONDS
    dlbc run -n 6 --strategy none --weights .. --speeds .. paced.py BLOCK|CYCLIC ROWS SECONDS

SECONDS are those of a whole row on the fastest rank; the others are slower by what is emulated. A row waits
for its time, so that many ranks fit on few cores. The time of the product or the elimination is printed.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def product(A: Matrix, x: Matrix, y: Matrix, seconds: float) -> None:
    """Y = A x; each row costs the same."""
    # dlb: parallel, BLOCK(A, y), WHOLE(x)
    for i in range(len(A)):
        time.sleep(seconds)
        y[i] = (A[i] * x).sum()


def in_blocks(A: Matrix, seconds: float) -> None:
    """LU in place, rows in blocks; at stage i a row costs (n - i) / n, i counted from 0."""
    n = len(A)
    # dlb: iterate
    for i in range(n - 1):
        # dlb: parallel, BLOCK(A)
        for j in range(i + 1, n):
            time.sleep(seconds * (n - i) / n)
            A[j, i] /= A[i, i]
            A[j, i + 1 :] -= A[j, i] * A[i, i + 1 :]


def scattered(A: Matrix, seconds: float) -> None:
    """The same, rows dealt in turn."""
    n = len(A)
    # dlb: iterate
    for i in range(n - 1):
        # dlb: parallel, CYCLIC(A)
        for j in range(i + 1, n):
            time.sleep(seconds * (n - i) / n)
            A[j, i] /= A[i, i]
            A[j, i + 1 :] -= A[j, i] * A[i, i + 1 :]


def main(name: str, n: int, seconds: float) -> None:
    """Run one of them, and print its time."""
    A = np.random.default_rng(1996).random((n, n)) + n * np.eye(n)
    x, y = np.ones(n), np.zeros(n)
    begin = time.perf_counter()
    if name == "sgemv":
        product(A, x, y, seconds)
    elif name == "BLOCK":
        in_blocks(A, seconds)
    else:
        scattered(A, seconds)
    print(f"{time.perf_counter() - begin:.6f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
