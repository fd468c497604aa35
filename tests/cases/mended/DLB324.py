import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
s = 0
# dlb: parallel
for i in range(n):
    A[i] = B[i]
    s += B[i]
