# races: the product is accumulated over the parallel loop
import numpy as np

n = 6
a = np.arange(36.0).reshape(n, n)
b = np.ones((n, n))
c = np.zeros((n, n))
# dlb: parallel
for k in range(n):
    for i in range(n):
        for j in range(n):
            c[i, j] = c[i, j] * 0.5 + a[i, k] * b[k, j]
print(c)
