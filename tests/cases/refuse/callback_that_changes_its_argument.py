# expect: DLB412 16:16, DLB419 16:16
import numpy as np

n = 8
A = np.zeros(n)


def shift(row):
    row += 1
    return row.sum()


def run(change, rows):
    # dlb: parallel
    for i in range(n):
        A[i] = change(rows)


run(shift, np.zeros(3))
