import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
s = 0
# dlb: parallel
for i in range(n):
    s += 2.0 ** (n - 1 - i) * B[i]
