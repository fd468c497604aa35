# The upper half is stored to, the lower one read.
import numpy as np

n = 10
A = np.arange(20.0)
# dlb: parallel
for i in range(n):
    A[i + n] = A[i] * 2
print(A.tolist())
