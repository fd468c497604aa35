"""Routines in routines: time around relaxation, ends of the inner one, inner ones without a pass."""

import numpy as np

n = 21


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[::4]])


def implicit(u, steps):
    v, source = u.copy(), np.linspace(0.0, 0.1, n)
    # dlb: iterate
    for t in range(steps):
        old = u.copy()
        sweeps = 0
        # dlb: iterate, tolerance=0.2
        while True:
            error = 0.0
            # dlb: parallel
            for i in range(1, n - 1):
                v[i] = (old[i] + source[i] + 0.4 * (u[i - 1] + u[i + 1])) / 1.8
                error = max(error, abs(v[i] - u[i]))
            u, v = v, u
            sweeps += 1
            if error < 1e-3 or sweeps == 30:
                break
        # dlb: parallel
        for i in range(n):
            source[i] *= 0.5
        u[0] += 0.25
        v[0] = u[0]
        print(t, sweeps, error.hex(), u[1].hex())
    return u


def levels(u):
    w = np.zeros((n, 3))
    # dlb: iterate
    for a in range(2):
        # dlb: iterate
        for b in range(a + 1):
            w[b] += 1.0
            # dlb: iterate
            for c in range(b):
                # dlb: parallel
                for i in range(n):
                    w[i] += u[i] * (a + b + c + 1)
            else:
                print("innermost", a, b, float(w.sum()).hex())
            # dlb: parallel
            for i in range(n):
                u[i] += w[i, b]
            if b == 1:
                continue
        print("middle", a, float(u[a]).hex())
    shown(u, w)


def out_of_both(u):
    # dlb: iterate
    for a in range(5):
        # dlb: iterate
        for b in range(5):
            # dlb: parallel
            for i in range(n):
                u[i] += a * b + 1
            if u[3] > 40:
                return a, b
    return None


def failing_inside(u):
    # dlb: iterate
    for a in range(4):
        try:
            # dlb: iterate
            for b in range(4):
                # dlb: parallel
                for i in range(n):
                    u[i] += 1.0 / (a * b - 2 if i == 11 else 1)
                if a + b == 5:
                    raise LookupError(u[2])
        except ZeroDivisionError as error:
            print(a, b, i, error)
            u[11:] = u[:10]
        except LookupError as error:
            print(a, b, error)
    shown(u)


def of_different_arrays():
    p, q, r = np.ones((7, 2)), np.arange(30.0), np.zeros(30)
    # dlb: iterate
    for a in range(3):
        # dlb: iterate
        for b in range(2):
            # dlb: parallel
            for k in range(len(p)):
                p[k] *= 1.0 + b * 0.5
        # dlb: iterate
        for b in range(a):
            # dlb: parallel, CYCLIC
            for i in range(30):
                r[i] = q[29 - i] + p[3, 0]
            q, r = r, q
        p[a] = q[a]
    shown(p, q, r)


shown(implicit(np.sin(np.arange(float(n))), 4))
levels(np.linspace(0.0, 1.0, n))
field = np.zeros(n)
print(out_of_both(field))
shown(field)
failing_inside([1.0] * n)
of_different_arrays()
