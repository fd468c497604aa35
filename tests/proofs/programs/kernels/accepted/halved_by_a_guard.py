# Odd iterations do nothing.
import numpy as np

n = 16
A = np.zeros(n // 2)
# dlb: parallel
for i in range(n):
    if i % 2 == 0:
        A[i // 2] = i
print(A.tolist())
