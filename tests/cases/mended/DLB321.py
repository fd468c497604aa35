import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel, WHOLE(B)
for i in range(n):
    A[i] = B[0]
