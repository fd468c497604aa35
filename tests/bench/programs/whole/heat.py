"""The heat equation until it is steady: python heat.py SIZE."""

import sys

import numpy as np


def relax(u, tolerance):
    """Jacobi steps until no cell changes by more than the tolerance."""
    n, m = u.shape
    new = u.copy()
    change, sweeps = 1.0, 0
    # dlb: iterate
    while change > tolerance:
        change = 0.0
        # dlb: parallel
        for i in range(1, n - 1):
            new[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:])
            change = max(change, np.max(np.abs(new[i, 1:-1] - u[i, 1:-1])))
        # dlb: parallel
        for i in range(1, n - 1):
            u[i, 1:-1] = new[i, 1:-1]
        sweeps += 1
    return sweeps


size = int(sys.argv[1])
u = np.zeros((size, size))
u[0, :] = 100.0
u[:, 0] = 50.0
sweeps = relax(u, 0.05)
print(f"{sweeps} sweeps, mean temperature {u.mean():.12f}")
