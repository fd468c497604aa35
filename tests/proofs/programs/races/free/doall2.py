# free: each iteration changes its row
import numpy as np

n = 7
a = np.zeros((n, n))
# dlb: parallel
for i in range(n):
    for j in range(n):
        a[i, j] = a[i, j] + 1
print(a)
