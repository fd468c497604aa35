# The function stores to the row that it is given.
import numpy as np


def scale(row, factor):
    for j in range(len(row)):
        row[j] = row[j] * factor


n = 6
A = np.arange(36.0).reshape(n, n)
# dlb: parallel
for i in range(n):
    scale(A[i], i + 1)
print(A.tolist())
