# B is A by another name.
import numpy as np

n = 10
A = np.arange(float(n))
B = A
# dlb: parallel
for i in range(1, n):
    A[i] = B[i - 1] + 1
print(A)
