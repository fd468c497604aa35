# A[i] = A[i-1].
import numpy as np

n = 10
A = np.arange(n)
# dlb: parallel
for i in range(1, n):
    A[i] = A[i - 1]
print(A)
