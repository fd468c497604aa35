# free: rows of the product
import numpy as np

n = 6
a = np.arange(36.0).reshape(n, n)
b = np.ones((n, n))
c = np.zeros((n, n))
# dlb: parallel
for i in range(n):
    for j in range(n):
        for k in range(n):
            c[i, j] = c[i, j] + a[i, k] * b[k, j]
print(c)
