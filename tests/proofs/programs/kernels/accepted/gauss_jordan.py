# All rows but the pivot row are updated by it.
import numpy as np

n = 6
A = np.eye(n) * n + np.arange(36.0).reshape(n, n) / 36
for k in range(n):
    # dlb: parallel
    for i in range(n):
        if i != k:
            A[i, :] -= A[i, k] / A[k, k] * A[k, :]
print(A.tolist())
