# A row is normalized as a whole.
import numpy as np

n = 7
A = np.arange(49.0).reshape(n, n) + 1
# dlb: parallel
for i in range(n):
    A[i] = A[i] / A[i].sum()
print(A.tolist())
