# row is a view of row 0, which iteration 0 stores to.
import numpy as np

n = 8
A = np.arange(64.0).reshape(n, n)
row = A[0]
# dlb: parallel, BLOCK
for i in range(n):
    A[i, :] = A[i, :] + row
print(A.sum())
