# The two loops of TRFD over columns, the second on parts of them.
import math

import numpy as np


def row_of(pair):
    return (math.isqrt(8 * pair + 1) - 1) // 2


def halved(column, first):
    return np.cumsum(column)[first:] * 0.5


n = 5
pairs = n * (n + 1) // 2
A = np.arange(float(pairs * pairs)).reshape(pairs, pairs)
# dlb: parallel, BLOCK(A, axis=1)
for rs in range(pairs):
    A[:, rs] = halved(A[:, rs], 0)
A = A.T.copy()
# dlb: parallel, BLOCK(A, axis=1)
for ij in range(pairs):
    i = row_of(ij)
    first = i * (i + 1) // 2
    A[first:, ij] = halved(A[:, ij], first)
print(A.tolist())
