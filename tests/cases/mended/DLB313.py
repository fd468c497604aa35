import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
def g(t):
    return t


# dlb: parallel
for i in range(n):
    t = i
    B[i] = g(t)
