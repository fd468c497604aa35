"""Sequential code of routines that changes arrays through results of numpy, and by places for results."""

import numpy as np

n = 12
u = np.arange(n * 3.0).reshape(n, 3)
v, w, total = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(3)


def outputs(steps):
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel
        for i in range(n):
            v[i] = u[i] * 0.5 + w[i] + i
        v.conj(w)
        v.sum(0, None, total)
        np.modf(v, u)
        print(total.tolist())


def results(steps):
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel
        for i in range(n):
            v[i] = u[i] * 0.25 + w[i] * t
        x = np.diff(u, n=0)
        x += 1
        y = np.float64(w)
        y[t] = x[t]
        z = v.conj()
        z[-1] = 0.5
        _, edges = np.histogram(u, v[0])
        edges -= 1
        held = [w]
        held[0] *= 0.5
        print(round(float(v[1, 1]), 3), x.sum())


outputs(4)
results(4)
print(u.tolist(), v.tolist(), w.tolist())
