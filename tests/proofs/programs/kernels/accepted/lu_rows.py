# The inner loop of LU: rows below the pivot are updated by the pivot row.
import numpy as np

n = 9
A = np.eye(n) * n + np.arange(81.0).reshape(n, n) / 81
for k in range(n - 1):
    # dlb: parallel, BLOCK
    for i in range(k + 1, n):
        factor = A[i, k] / A[k, k]
        A[i, k:] -= factor * A[k, k:]
        A[i, k] = factor
print(A.tolist())
