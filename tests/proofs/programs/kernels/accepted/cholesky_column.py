# The inner loop of Cholesky: column k is scaled, by rows below the diagonal.
import math

import numpy as np

n = 8
A = np.eye(n) * n + 1.0
for k in range(n):
    A[k, k] = math.sqrt(A[k, k])
    # dlb: parallel
    for i in range(k + 1, n):
        A[i, k] = A[i, k] / A[k, k]
    # dlb: parallel
    for j in range(k + 1, n):
        for i in range(j, n):
            A[i, j] = A[i, j] - A[i, k] * A[j, k]
print(np.tril(A).tolist())
