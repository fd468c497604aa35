# races: magnetic and electric fields in one sweep
import numpy as np

n = 10
e = np.zeros(n)
h = np.arange(float(n))
# dlb: parallel
for i in range(1, n):
    e[i] = e[i] - 0.5 * (h[i] - h[i - 1])
    h[i - 1] = h[i - 1] - 0.7 * (e[i] - e[i - 1])
print(e, h)
