# free: one after the other
import numpy as np

n = 10
e = np.zeros(n)
h = np.arange(float(n))
# dlb: parallel
for i in range(1, n):
    e[i] = e[i] - 0.5 * (h[i] - h[i - 1])
# dlb: parallel
for i in range(n - 1):
    h[i] = h[i] - 0.7 * (e[i + 1] - e[i])
print(e, h)
