import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
def g(row, value):
    row[0] = value


# dlb: parallel
for i in range(n):
    g(A[i], i)
