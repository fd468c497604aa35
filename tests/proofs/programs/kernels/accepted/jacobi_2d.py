# New values from the four neighbours' old ones.
import numpy as np

n, m = 10, 8
u = np.arange(float(n * m)).reshape(n, m)
v = u.copy()
# dlb: parallel, BLOCK
for i in range(1, n - 1):
    for j in range(1, m - 1):
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
print(v.tolist())
