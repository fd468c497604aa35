"""Routines within routines, and parallel loops around them."""

import numpy as np

n = 8
u = np.ones((n, 3))
v = np.zeros((n, 3))


def rows(a):
    for k in range(len(a)):
        yield a[k]


def smooth(a):
    # dlb: parallel
    for i in range(len(a)):
        a[i] *= 0.5
    return a[0, 0]


# dlb: iterate
for sweep in range(3):
    # dlb: parallel
    for i in range(n):
        u[i] += sweep
    worst = 0.0
    # dlb: iterate, every=3
    while True:
        # dlb: parallel
        for i in range(n):
            v[i] = v[i] * 0.5 + u[i]
            worst = max(worst, float(v[i, 0]))
        if v[2, 1] > 1.5 * (sweep + 1):
            break
        # dlb: iterate
        for part in rows(u):
            # dlb: parallel
            for i in range(1, n - 1):
                u[i] = u[i] + 0.01 * i
            print(sweep, part[0])
    # Another one beside it.
    # dlb: iterate
    for k in range(2):
        # dlb: parallel
        for i in range(n):
            u[i] -= v[i] * 0.125
        else:
            print("done", k, u[k, k])

        def after():
            # dlb: parallel
            for i in range(n):
                v[i] += 1.0

        after()
        # The last comment of the block.
    smooth(u)
    print(worst, smooth(v))
print(u, v)
