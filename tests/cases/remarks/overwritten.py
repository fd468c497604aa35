import numpy as np

n = 1000
A = np.zeros((n, n))
# dlb: parallel
for i in range(n):
    for j in range(n):
        A[i, j] = i * j
