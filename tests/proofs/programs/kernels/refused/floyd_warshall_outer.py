# Every step of the outer loop needs the one before.
import numpy as np

n = 6
D = np.arange(36.0).reshape(n, n) % 7
# dlb: parallel
for k in range(n):
    for i in range(n):
        for j in range(n):
            D[i, j] = min(D[i, j], D[i, k] + D[k, j])
print(D.sum())
