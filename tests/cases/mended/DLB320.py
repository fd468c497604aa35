import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel, BLOCK(A, axis=0)
for i in range(n):
    A[i] = 1
