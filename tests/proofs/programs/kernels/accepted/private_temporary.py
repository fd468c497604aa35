# A buffer made in the iteration belongs to it.
import numpy as np

n = 8
A = np.arange(64.0).reshape(n, n)
out = np.zeros(n)
# dlb: parallel
for i in range(n):
    buffer = np.zeros(n)
    for j in range(1, n):
        buffer[j] = buffer[j - 1] + A[i, j]
    out[i] = buffer[n - 1]
print(out.tolist())
