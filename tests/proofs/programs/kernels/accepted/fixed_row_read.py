# Row 0 is read by all and stored to by none.
import numpy as np

n = 7
A = np.arange(49.0).reshape(n, n)
# dlb: parallel
for i in range(1, n):
    A[i, :] = A[i, :] * A[0, :]
print(A.tolist())
