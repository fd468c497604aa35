# Slices of three elements at distance two.
import numpy as np

n = 10
A = np.zeros(24)
# dlb: parallel
for i in range(n):
    A[2 * i : 2 * i + 3] = i
print(A)
