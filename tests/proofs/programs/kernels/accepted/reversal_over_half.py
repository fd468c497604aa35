# Below the middle, n-1-i is above it.
import numpy as np

n = 15
A = np.arange(n)
# dlb: parallel
for i in range(n // 2):
    t = A[i]
    A[i] = A[n - 1 - i]
    A[n - 1 - i] = t
print(A.tolist())
