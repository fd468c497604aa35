"""An array sent out and gathered, by rows or by columns, beside one copy of it; the body touches one element.

Arguments: rows or columns, the length of the array's first axis, of its second, and how often.
"""

import sys
import time

import numpy as np


def by_rows(A):
    # dlb: parallel, BLOCK
    for i in range(len(A)):
        A[i, 0] += 1.0


def by_columns(A):
    # dlb: parallel, BLOCK
    for j in range(A.shape[1]):
        A[0, j] += 1.0


kind, (first, second, times) = sys.argv[1], map(int, sys.argv[2:])
A, copy = np.ones((first, second)), np.ones((first, second))
for _ in range(times):
    start = time.perf_counter()
    (by_rows if kind == "rows" else by_columns)(A)
    loop_s = time.perf_counter() - start
    start = time.perf_counter()
    copy[:] = A
    print(f"loop {loop_s:.6f} copy {time.perf_counter() - start:.6f}", file=sys.stderr)
touched = A[:, 0] if kind == "rows" else A[0]
assert (touched == 1 + times).all()
assert A.sum() == A.size + len(touched) * times
