# Element i uses the new value of element i - 1.
import numpy as np

n = 20
u = np.arange(float(n))
f = np.ones(n)
# dlb: parallel
for i in range(1, n - 1):
    u[i] = 0.5 * (u[i - 1] + u[i + 1] - f[i])
print(u.sum())
