import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
best = 0
# dlb: parallel
for i in range(n):
    value = 2 * B[i]
    if value > best:
        best, where = value, i
