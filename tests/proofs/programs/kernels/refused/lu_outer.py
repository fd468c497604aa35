# The outer loop of LU: step k needs the steps before.
import numpy as np

n = 8
A = np.eye(n) * n + 1.0
# dlb: parallel, BLOCK
for k in range(n - 1):
    for i in range(k + 1, n):
        A[i, k] = A[i, k] / A[k, k]
        for j in range(k + 1, n):
            A[i, j] = A[i, j] - A[i, k] * A[k, j]
print(A.sum())
