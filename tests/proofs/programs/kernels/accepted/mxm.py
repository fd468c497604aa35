# Matrix multiplication by the three loops of the definition.
import numpy as np

n, m, r = 9, 7, 5
X = np.arange(float(n * r)).reshape(n, r)
Y = np.arange(float(r * m)).reshape(r, m) - 9
Z = np.zeros((n, m))
# dlb: parallel, BLOCK
for i in range(n):
    for j in range(m):
        for k in range(r):
            Z[i, j] += X[i, k] * Y[k, j]
print(Z.tolist())
