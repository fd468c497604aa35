import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(n):
    if B[i] > 1:
        continue
    A[i, 0] = B[i]
