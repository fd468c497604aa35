# A sparse matrix by rows, times a vector.
import numpy as np

n = 8
ptr = [0, 2, 3, 3, 7, 8, 10, 12, 13]
col = [0, 3, 1, 0, 2, 4, 7, 5, 1, 6, 0, 7, 3]
val = np.arange(13.0) + 0.5
x = np.arange(float(n))
y = np.zeros(n)
# dlb: parallel
for i in range(n):
    for p in range(ptr[i], ptr[i + 1]):
        y[i] += val[p] * x[col[p]]
print(y.tolist())
