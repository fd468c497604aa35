# .copy() of an array is another array.
import numpy as np

n = 10
A = np.arange(float(n))
old = A.copy()
# dlb: parallel
for i in range(1, n - 1):
    A[i] = old[i - 1] + old[i + 1]
print(A.tolist())
