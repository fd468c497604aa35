# free: each pair once
import numpy as np

n = 6
a = np.arange(36.0).reshape(n, n)
# dlb: parallel
for i in range(n):
    for j in range(i):
        t = a[i, j]
        a[i, j] = a[j, i]
        a[j, i] = t
print(a)
