# races: old and new neighbours in one array
import numpy as np

n = 7
a = np.arange(49.0).reshape(n, n)
# dlb: parallel, BLOCK
for i in range(1, n - 1):
    for j in range(1, n - 1):
        a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i + 1, j + 1]) / 5
print(a)
