# All rows store to row 2, element by element.
import numpy as np

n = 8
A = np.zeros((n, n))
# dlb: parallel
for i in range(n):
    for j in range(n):
        A[2, j] = i + j
print(A.sum())
