import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(n):
    B[xs[i][0]] += 1
B *= 2
