# Left-looking: row i below the diagonal from rows that are done.
import numpy as np

n = 8
A = np.eye(n) * n + 1.0
L = np.zeros((n, n))
for k in range(n):
    s = 0.0
    for p in range(k):
        s += L[k, p] * L[k, p]
    L[k, k] = (A[k, k] - s) ** 0.5
    # dlb: parallel
    for i in range(k + 1, n):
        t = A[i, k]
        for p in range(k):
            t -= L[i, p] * L[k, p]
        L[i, k] = t / L[k, k]
print(L.tolist())
