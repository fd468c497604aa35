# With a copy of row k, the rows are independent.
import numpy as np

n = 7
D = np.arange(49.0).reshape(n, n) % 13 + 1
for k in range(n):
    row = D[k, :].copy()
    # dlb: parallel
    for i in range(n):
        for j in range(n):
            D[i, j] = min(D[i, j], D[i, k] + row[j])
print(D.tolist())
