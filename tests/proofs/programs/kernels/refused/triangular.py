# Row i uses what earlier rows have put into the lower triangle.
import numpy as np

n = 9
L = np.eye(n)
# dlb: parallel, BLOCK
for i in range(1, n):
    for j in range(i):
        L[i, j] = L[j, 0] + 1.0
print(L.sum())
