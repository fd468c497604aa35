# A[n-1-i] overlaps A[i] beyond the middle.
import numpy as np

n = 10
A = np.arange(n)
# dlb: parallel
for i in range(n):
    A[n - 1 - i] = A[i]
print(A)
