# A whole row is made of the one before.
import numpy as np

n = 8
A = np.arange(64.0).reshape(n, n)
# dlb: parallel, BLOCK
for i in range(1, n):
    A[i, :] = A[i - 1, :] + 1
print(A.sum())
