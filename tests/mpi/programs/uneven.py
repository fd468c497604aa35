"""Iterations of very different cost, long enough for work to move; views as rows; else."""

import numpy as np


def heavy(k):
    x = 1.0
    for _ in range(k):
        x = x * 1.0000001 + 1e-9
    return x


n = 60
A = np.zeros((n, 5))
# dlb: parallel, BLOCK
for i in range(n):
    value = heavy(i * 300)
    A[i, :] = value
else:
    print("done", value.hex())
print(A.tobytes().hex()[-160:])
