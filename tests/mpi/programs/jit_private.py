"""A scratch array that is private to iterations: compiled ones use it one after the other."""

import numpy as np

n = 24
A = np.fromfunction(lambda r, q: (r * q + r) % n / n, (n, n))
C = np.fromfunction(lambda s, p: s * p % n / n, (n, n))
row = np.zeros(n)
# dlb: parallel, BLOCK, private(row), jit
for i in range(n):
    for p in range(n):
        row[p] = 0.0
        for s in range(n):
            row[p] += A[i, s] * C[s, p]
    for p in range(n):
        A[i, p] = row[p]
print(A.tobytes().hex()[:600], A.sum())
