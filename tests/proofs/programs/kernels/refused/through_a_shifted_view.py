# B[i] is A[i + 1].
import numpy as np

n = 10
A = np.arange(float(n + 1))
B = A[1:]
# dlb: parallel
for i in range(n):
    B[i] = A[i] + 1
print(A)
