# A cell needs the cells above and to the left.
import numpy as np

n, m = 9, 7
H = np.zeros((n, m))
# dlb: parallel, BLOCK
for i in range(1, n):
    for j in range(1, m):
        H[i, j] = max(H[i - 1, j], H[i, j - 1], H[i - 1, j - 1] + 1)
print(H.sum())
