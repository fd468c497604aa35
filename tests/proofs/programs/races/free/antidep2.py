# free: neighbours along the row alone, inside one iteration
import numpy as np

n = 8
a = np.ones((n, n))
# dlb: parallel
for i in range(n):
    for j in range(n - 1):
        a[i, j] += a[i, j + 1]
print(a)
