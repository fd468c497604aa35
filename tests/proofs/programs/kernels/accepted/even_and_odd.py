# A[2i] and A[2i + 1] belong to iteration i.
import numpy as np

n = 10
A = np.zeros(2 * n)
# dlb: parallel
for i in range(n):
    A[2 * i] = i
    A[2 * i + 1] = -i
print(A.tolist())
