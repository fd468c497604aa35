# free: even elements from odd ones
import numpy as np

n = 14
u = np.arange(float(n))
# dlb: parallel
for i in range(2, n - 1, 2):
    u[i] = 0.5 * (u[i - 1] + u[i + 1])
print(u)
