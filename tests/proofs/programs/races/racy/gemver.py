# races: x is updated from columns of what other iterations update
import numpy as np

n = 6
A = np.ones((n, n))
u = np.arange(float(n))
x = np.zeros(n)
# dlb: parallel
for i in range(n):
    for j in range(n):
        A[i, j] = A[i, j] + u[i] * u[j]
    for j in range(n):
        x[i] = x[i] + A[j, i]
print(x)
