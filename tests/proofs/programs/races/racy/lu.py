# races: elimination steps depend on each other
import numpy as np

n = 6
a = np.eye(n) * n + 1
# dlb: parallel
for k in range(n):
    for i in range(k + 1, n):
        a[i, k] /= a[k, k]
        for j in range(k + 1, n):
            a[i, j] -= a[i, k] * a[k, j]
print(a)
