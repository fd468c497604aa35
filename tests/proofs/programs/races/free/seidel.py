# free: a diagonal of cells, whose neighbours lie on other diagonals
import numpy as np

n = 7
a = np.arange(49.0).reshape(n, n)
for d in range(2, 2 * n - 3):
    # dlb: parallel
    for i in range(max(1, d - n + 2), min(n - 1, d)):
        a[i, d - i] = (a[i - 1, d - i] + a[i, d - i - 1] + a[i, d - i + 1] + a[i + 1, d - i]) / 4
print(a)
