# free: sums within a row
import numpy as np

n = 7
mean = np.arange(49.0).reshape(n, n)
path = np.zeros((n, n))
# dlb: parallel
for j in range(n):
    path[j, j] = mean[j, j]
    for i in range(j + 1, n):
        path[j, i] = path[j, i - 1] + mean[j, i]
print(path)
