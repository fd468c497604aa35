# The same by the step of the range.
import numpy as np

n = 21
A = np.zeros(n)
# dlb: parallel
for i in range(0, n, 3):
    A[i] = i
    A[i + 1] = A[i] + 1
    A[i + 2] = A[i + 1] + 1
print(A.tolist())
