# free: rows first, columns afterwards
import numpy as np

n = 7
A = np.arange(49.0).reshape(n, n)
x = np.ones(n)
t = np.zeros(n)
y = np.zeros(n)
# dlb: parallel
for i in range(n):
    for j in range(n):
        t[i] += A[i, j] * x[j]
# dlb: parallel
for j in range(n):
    for i in range(n):
        y[j] += A[i, j] * t[i]
print(y)
