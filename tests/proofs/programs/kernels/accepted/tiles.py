# A tile of B elements is an iteration's.
import numpy as np

n, B = 23, 4
A = np.zeros(n)
# dlb: parallel
for b in range(0, n, B):
    for i in range(b, min(b + B, n)):
        A[i] = 2 * i + b
print(A.tolist())
