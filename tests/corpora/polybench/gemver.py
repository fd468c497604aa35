"""A += u v' + w z', x += beta A' y + t, r += alpha A x (PolyBench gemver)."""

import numpy as np


def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    n = a.shape[0]
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(n):
            a[i, j] = a[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * a[j, i] * y[j]
    # dlb: parallel, BLOCK
    for i in range(n):
        x[i] = x[i] + z[i]
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * a[i, j] * x[j]


n = 8
a = np.fromfunction(lambda i, j: i * j % n / n, (n, n))
w, x = np.zeros(n), np.zeros(n)
vectors = [(np.arange(n) + 1) / n / k for k in (1, 2, 4, 6, 8, 9)]
gemver(1.5, 1.2, a, *vectors[:4], w, x, *vectors[4:])
print(a.tolist(), x.tolist(), w.tolist())
