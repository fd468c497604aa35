import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
total = B.sum()
# dlb: parallel
for i in range(n):
    B[i] = total
