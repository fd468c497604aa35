# free: columns to the right of a finished one
import numpy as np

n = 6
a = np.eye(n) * n + 1
for k in range(n):
    a[k, k] = a[k, k] ** 0.5
    for i in range(k + 1, n):
        a[i, k] /= a[k, k]
    # dlb: parallel
    for j in range(k + 1, n):
        for i in range(j, n):
            a[i, j] -= a[i, k] * a[j, k]
print(a)
