# A lower triangle packed row after row: row i begins at i * (i + 1) / 2.
import numpy as np

n = 11
x = np.arange(float(n * (n + 1) // 2))
y = np.zeros(n * (n + 1) // 2)
# dlb: parallel
for i in range(n):
    for j in range(i + 1):
        y[i * (i + 1) // 2 + j] = x[i * (i + 1) // 2 + j] * (i + 1) + j
print(y.tolist())
