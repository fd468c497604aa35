# free: within the row
import numpy as np

n, m = 6, 5
b = np.arange(float(n * m))
# dlb: parallel
for i in range(n):
    for j in range(1, 5):
        b[5 * i + j] = b[5 * i + j - 1] + 1
print(b)
