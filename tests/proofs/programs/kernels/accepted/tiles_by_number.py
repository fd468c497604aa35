# Tiles counted, four elements each.
import numpy as np

n = 6
A = np.zeros(4 * n)
# dlb: parallel
for t in range(n):
    for i in range(4 * t, 4 * t + 4):
        A[i] = t * i
print(A.tolist())
