# races: even and odd elements in one sweep of all
import numpy as np

n = 14
u = np.arange(float(n))
# dlb: parallel
for i in range(1, n - 1):
    u[i] = 0.5 * (u[i - 1] + u[i + 1])
print(u)
