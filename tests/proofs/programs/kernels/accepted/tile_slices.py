# The same by slices.
import numpy as np

n = 6
A = np.zeros(4 * n)
x = np.arange(24.0)
# dlb: parallel
for t in range(n):
    A[4 * t : 4 * t + 4] = x[4 * t : 4 * t + 4] * t
print(A.tolist())
