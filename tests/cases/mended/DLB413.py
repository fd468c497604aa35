import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
C = B.copy()


def g(i):
    return C[i - 1]


# dlb: parallel
for i in range(n):
    B[i] = g(i)
