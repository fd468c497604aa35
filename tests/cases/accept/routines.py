"""Routines: loops annotated `iterate` around parallel ones, in functions, methods and at module level."""

import math

import numpy as np


def jacobi(A, b, x, tol, steps, every):
    n = len(b)
    new = np.zeros_like(x)
    history = []
    # The residual is looked at in each pass.
    # dlb: iterate, tolerance=0.1
    for t in range(steps):
        err = 0.0
        # dlb: parallel
        for i in range(n):
            new[i] = (b[i] - A[i] @ x + A[i, i] * x[i]) / A[i, i]
            err = max(err, abs(new[i] - x[i]))
        x, new = new, x  # a rename
        history.append(err)
        if t % every == 0:
            print(f"{t}: {err:.6f}", x[n // 2])
        if err < tol:
            break
    else:
        print("no convergence", x[0])
    return x, history


def relax(u, limit):
    v = u.copy()
    passes = 0
    # dlb: iterate, model=akima, every=2, checkpoint=5
    while u[1, 1] < limit and passes < 20:
        # dlb: parallel
        for i in range(1, len(u) - 1):
            v[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:])
        u, v = v, u
        u[0] = 1.0
        u[-1, 2:4] += 0.5
        passes += 1
        if passes % 5:
            continue
        if not math.isfinite(u[2, 2]):
            return None
        edge = u[1:3]
        u *= 0.75
        print(passes, edge.shape, float(edge.sum()), np.max(u[3]))
    return u


class Heat:
    """Keeps its arrays as attributes."""

    def __init__(self, n):
        self.u = np.zeros((n, n))
        self.v = np.zeros((n, n))
        self.u[0] = self.v[0] = 1.0
        self.time = 0.0
        self.log = []

    @property
    def total(self):
        return float(self.u.sum())

    def run(self, end):
        for round_ in range(2):
            while self.time < end * (round_ + 1):  # dlb: iterate
                # dlb: parallel
                for i in range(1, len(self.u) - 1):
                    self.v[i, 1:-1] = 0.5 * (self.u[i - 1, 1:-1] + self.u[i + 1, 1:-1])
                self.u, self.v = self.v, self.u
                self.time += 0.125
                self.log.append(self.total)
                self.cool(0.5)
        return self

    def cool(self, by):
        self.u[1] *= by


n = 12
field = np.arange(float(n))
sums = np.zeros(3)
# dlb: iterate
for t in range(3):
    # dlb: parallel
    for i in range(n):
        field[i] = field[i] * 0.5 + t
    sums[t] = field[:4].sum()
print(sums, field)
start = np.random.default_rng(1).random((9, 9))
print(jacobi(np.eye(6) * 4 + 1, np.ones(6), np.zeros(6), 1e-3, 30, 3))
print(relax(start, 0.9))
heat = Heat(7).run(0.5)
print(heat.total, heat.log)
