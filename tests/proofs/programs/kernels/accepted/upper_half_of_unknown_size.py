# The distance is a parameter: it must be at least n, which is looked at before the loop.
import numpy as np


def shift(A, n, m):
    # dlb: parallel
    for i in range(n):
        A[i + m] = A[i] + 1


A = np.arange(20.0)
shift(A, 8, 10)
print(A.tolist())
