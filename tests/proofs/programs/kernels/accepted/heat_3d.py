# The seven-point stencil.
import numpy as np

n = 6
u = np.arange(float(n**3)).reshape(n, n, n) % 11
v = u.copy()
# dlb: parallel
for i in range(1, n - 1):
    for j in range(1, n - 1):
        for k in range(1, n - 1):
            near = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k]
            v[i, j, k] = u[i, j, k] + 0.1 * (near + u[i, j, k - 1] + u[i, j, k + 1] - 6 * u[i, j, k])
print(v.tolist())
