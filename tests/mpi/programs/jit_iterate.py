"""A routine around compiled loops: rows stay on the ranks, halos travel; what it leaves is as in Python."""

import numpy as np

n, passes = 24, 9
u = np.linspace(0.0, 1.0, n * n).reshape(n, n)
v = u.copy()
# dlb: iterate
for t in range(passes):
    # dlb: parallel, jit
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            v[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])
    # dlb: parallel, jit
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            u[i, j] = v[i, j] * (1.0 + 0.01 * t)
    if t % 4 == 0:
        print(t, u[3, 4], u[n - 2, 5])
print(u.tobytes().hex()[:300], u.sum(), v.sum())
