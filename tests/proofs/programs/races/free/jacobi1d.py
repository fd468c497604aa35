# free: two loops
import numpy as np

n = 12
a = np.arange(float(n))
b = np.zeros(n)
# dlb: parallel
for i in range(1, n - 1):
    b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
# dlb: parallel
for i in range(1, n - 1):
    a[i] = b[i]
print(a)
