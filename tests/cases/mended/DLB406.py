import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
items = []
# dlb: parallel
for i in range(n):
    items.append(B[i])
    B[i] = i + 1
