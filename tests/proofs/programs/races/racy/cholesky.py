# races: columns need the columns before
import numpy as np

n = 6
a = np.eye(n) * n + 1
# dlb: parallel
for j in range(n):
    for k in range(j):
        for i in range(j, n):
            a[i, j] -= a[i, k] * a[j, k]
    a[j, j] = a[j, j] ** 0.5
    for i in range(j + 1, n):
        a[i, j] /= a[j, j]
print(a)
