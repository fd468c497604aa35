# An element's number tells its row and column.
import numpy as np

n, m = 6, 5
A = np.zeros(n * m)
x = np.arange(30.0).reshape(n, m)
# dlb: parallel
for k in range(30):
    A[k] = x[k // 5, k % 5]
print(A.tolist())
