import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
import settings

table = [0.0] * n
# dlb: parallel
for i in range(n):
    table[i] = B[i]
settings.table[:] = table
