# races: s is read as it grows
import numpy as np

n = 6
A = np.arange(36.0).reshape(n, n)
r = np.ones(n)
s = np.zeros(n)
q = np.zeros(n)
# dlb: parallel
for i in range(n):
    for j in range(n):
        s[j] = s[j] + r[i] * A[i, j]
    q[i] = s[0]
print(q)
