# The same, element by element.
import numpy as np


def factor(A, n):
    for k in range(n - 1):
        # dlb: parallel
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]


n = 8
A = np.eye(n) * n + np.arange(64.0).reshape(n, n) / 64
factor(A, n)
print(A.tolist())
