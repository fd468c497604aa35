# Iteration i sums from i on; it stores to A[i] alone.
import numpy as np

n = 30
B = np.arange(float(n))
C = np.arange(float(n))[::-1].copy()
A = np.zeros(n)
# dlb: parallel, BLOCK(A), WHOLE(B, C)
for i in range(n):
    for j in range(i, n):
        A[i] += 0.5 * B[j] * C[j - i]
print(A.tolist())
