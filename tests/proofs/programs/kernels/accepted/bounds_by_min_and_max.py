# A band around the diagonal.
import numpy as np

n, w = 10, 2
A = np.zeros((n, n))
# dlb: parallel
for i in range(n):
    for j in range(max(0, i - w), min(n, i + w + 1)):
        A[i, j] = i + j + 1
print(A.tolist())
