"""y = alpha A x + beta B x (PolyBench gesummv)."""

import numpy as np


def gesummv(alpha, beta, a, b, x, y):
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        product = 0.0
        y[i] = 0.0
        for j in range(a.shape[0]):
            product = a[i, j] * x[j] + product
            y[i] = b[i, j] * x[j] + y[i]
        y[i] = alpha * product + beta * y[i]


n = 9
y = np.empty(n)
a, b = (np.fromfunction(lambda i, j, k=k: (i * j + k) % n / n, (n, n)) for k in (1, 2))
gesummv(1.5, 1.2, a, b, np.arange(n) / n, y)
print(y.tolist())
