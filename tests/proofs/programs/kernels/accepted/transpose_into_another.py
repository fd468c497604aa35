# Row i of one is column i of the other.
import numpy as np

n, m = 6, 8
A = np.arange(48.0).reshape(n, m)
B = np.zeros((m, n))
# dlb: parallel
for i in range(n):
    for j in range(m):
        B[j, i] = A[i, j]
print(B.tolist())
