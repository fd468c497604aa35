# A[i][j] and A[i, j] are one element.
import numpy as np

n = 8
A = np.arange(64.0).reshape(n, n)
# dlb: parallel
for i in range(n):
    for j in range(1, n):
        A[i][j] = A[i, j] + A[i][0]
print(A.tolist())
