# races: y is rescaled and added to by all rows
import numpy as np

n = 7
A = np.arange(49.0).reshape(n, n)
x = np.ones(n)
y = np.ones(n)
# dlb: parallel
for i in range(n):
    t = 0.0
    for j in range(n):
        t += A[i, j] * x[j]
    for j in range(n):
        y[j] = y[j] * 0.5 + A[i, j] * t
print(y)
