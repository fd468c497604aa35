import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
s, product = 1, 1
# dlb: parallel
for i in range(n):
    s += B[i]
    product *= 2
