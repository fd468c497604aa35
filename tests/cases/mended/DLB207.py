import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
class Table:
    scale = 2


for i in range(n):  # dlb: parallel
    B[i] = sum([Table.scale * x for x in range(i)])
