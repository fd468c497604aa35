# races: both sides of the diagonal, for all rows and columns
import numpy as np

n = 6
a = np.arange(36.0).reshape(n, n)
# dlb: parallel
for i in range(n):
    for j in range(n):
        a[i, j] = a[j, i] + 1
print(a)
