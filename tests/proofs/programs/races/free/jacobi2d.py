# free: new values go to another array
import numpy as np

n = 9
u = np.arange(81.0).reshape(n, n)
v = np.zeros((n, n))
# dlb: parallel
for i in range(1, n - 1):
    for j in range(1, n - 1):
        v[i, j] = 0.2 * (u[i, j] + u[i, j - 1] + u[i, j + 1] + u[i + 1, j] + u[i - 1, j])
print(v)
