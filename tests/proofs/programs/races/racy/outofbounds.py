# races: on the flattened array, one column too many is the next row's first
import numpy as np

n, m = 6, 5
b = np.arange(float(n * m + 1))
# dlb: parallel
for i in range(1, n):
    for j in range(m):
        b[i * m + j] = b[i * m + j - 1] + 1
print(b)
