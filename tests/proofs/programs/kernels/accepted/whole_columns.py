# A column at a time.
import numpy as np

n = 7
A = np.arange(49.0).reshape(n, n) + 1
# dlb: parallel
for j in range(n):
    A[:, j] = A[:, j] - A[0, j]
print(A.tolist())
