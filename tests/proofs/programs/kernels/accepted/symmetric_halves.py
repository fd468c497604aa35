# Iteration i stores to row i from the diagonal on and to column i below it.
import numpy as np

n = 9
A = np.zeros((n, n))
# dlb: parallel
for i in range(n):
    for j in range(i, n):
        A[i, j] = i * j + 1
        A[j, i] = i * j + 1
print(A.tolist())
