# The view is taken in the body.
import numpy as np

n = 8
A = np.arange(64.0).reshape(n, n)
# dlb: parallel
for i in range(1, n):
    above = A[i - 1]
    A[i, 0] = above[0] + 1
print(A.sum())
