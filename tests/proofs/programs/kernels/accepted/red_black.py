# Red cells are even, and read black ones alone.
import numpy as np

n = 21
u = np.arange(float(n)) ** 2
# dlb: parallel
for i in range(2, n - 1, 2):
    u[i] = 0.5 * (u[i - 1] + u[i + 1])
# dlb: parallel
for i in range(1, n - 1, 2):
    u[i] = 0.5 * (u[i - 1] + u[i + 1])
print(u.tolist())
