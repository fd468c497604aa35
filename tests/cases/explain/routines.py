import numpy as np


def relax(u, v, tol, steps, watch):
    # dlb: iterate, model=akima, every=2
    for t in range(steps):
        err = 0.0
        # dlb: parallel
        for i in range(1, len(u) - 1):
            v[i] = 0.5 * (u[i - 1] + u[i + 1])
            err = max(err, float(abs(v[i] - u[i])))
        u, v = v, u
        v[0] = u[0] = 1.0
        if t % 10 == 0:
            watch(t, err, u)
        u *= 0.5
        if err < tol:
            break
    return u


# dlb: iterate
while True:
    # dlb: parallel
    for i in range(3):
        pass
    with open(__file__) as file, relax:
        # dlb: parallel
        for i in range(3):
            print(i)
    break
