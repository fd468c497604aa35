import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
C = B.copy()
# dlb: parallel
for i in range(1, n):
    B[i] = C[i - 1] + 1
