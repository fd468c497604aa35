# Row i uses the new values of row i - 1.
import numpy as np

n = 12
A = np.arange(float(n * n)).reshape(n, n)
# dlb: parallel, BLOCK
for i in range(1, n - 1):
    for j in range(1, n - 1):
        A[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
print(A.sum())
