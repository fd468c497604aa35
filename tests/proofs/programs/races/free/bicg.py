# free: each product by its own index
import numpy as np

n = 6
A = np.arange(36.0).reshape(n, n)
r = np.ones(n)
s = np.zeros(n)
q = np.zeros(n)
# dlb: parallel
for j in range(n):
    for i in range(n):
        s[j] = s[j] + r[i] * A[i, j]
        q[j] = q[j] + A[j, i] * r[i]
print(s, q)
