# races: row i + 1 is read while the next iteration overwrites it
import numpy as np

n = 8
a = np.ones((n, n))
# dlb: parallel
for i in range(n - 1):
    for j in range(n):
        a[i, j] += a[i + 1, j]
print(a)
