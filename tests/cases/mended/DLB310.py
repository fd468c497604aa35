import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(n):
    t = i - 1 if i else 0
    B[i] = t
