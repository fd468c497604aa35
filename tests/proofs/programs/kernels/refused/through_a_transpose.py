# B is the transpose, in the same memory.
import numpy as np

n = 8
A = np.arange(64.0).reshape(n, n)
B = A.T
# dlb: parallel
for i in range(n):
    for j in range(n):
        A[i, j] = B[i, j] + 1
print(A.sum())
