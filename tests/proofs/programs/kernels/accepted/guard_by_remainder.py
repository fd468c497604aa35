# Two branches, two parts of the array.
import numpy as np

n = 12
A = np.zeros(2 * n)
# dlb: parallel
for i in range(n):
    if i % 3 == 0:
        A[i] = 1
    else:
        A[i + n] = 2
print(A.tolist())
