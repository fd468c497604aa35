# The same of parameters, which may be anything.
import numpy as np


def multiply(X, Y, Z, n, m, r):
    # dlb: parallel
    for i in range(n):
        for j in range(m):
            total = 0.0
            for k in range(r):
                total += X[i, k] * Y[k, j]
            Z[i, j] = total


X = np.arange(45.0).reshape(9, 5)
Y = np.arange(35.0).reshape(5, 7) - 9
Z = np.zeros((9, 7))
multiply(X, Y, Z, 9, 7, 5)
print(Z.tolist())
