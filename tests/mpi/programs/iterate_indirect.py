"""Routines whose loops reach arrays by data: permutations that change, callees that know arrays, elements."""

import dataclasses

import numpy as np

n, m = 20, 3
shared = np.zeros(n)


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[:: max(1, np.size(a) // 6)]])


def known_to_all(i):
    return float(shared[i]) + float(shared[n - 1 - i]) * 0.5


def by_callees(u):
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            shared[i] = u[i, 0] * 0.5 + i
        # dlb: parallel
        for i in range(n):
            u[i] = u[i] * 0.25 + known_to_all(i)
        shared[t] = -1.0
    shown(u, shared)


def by_permutations(u):
    rng = np.random.default_rng(4)
    p, v = np.arange(n), np.zeros((n, m))
    # dlb: iterate
    for t in range(5):
        # dlb: parallel
        for i in range(n):
            v[p[i]] = u[i] * 0.5 + t
        # dlb: parallel
        for i in range(n):
            u[i] = v[(3 * i + t) % n] + v[p[i]] * 0.25
        if t % 2:
            p[:] = rng.permutation(n)
        else:
            # dlb: parallel
            for i in range(n):
                p[i] = n - 1 - p[i]
    shown(u, v, p)


def by_cells(u):
    """Rows of unequal length one after the other, as sparse matrices have them."""
    start = np.cumsum([0, *(k % 4 for k in range(n))])
    values, columns = np.ones(start[-1]), np.arange(start[-1]) * 7 % n
    x, y = np.ones(n), np.zeros(n)
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            for k in range(start[i], start[i + 1]):
                y[i] += values[k] * x[columns[k]]
        # dlb: parallel
        for i in range(n):
            values[start[i] : start[i + 1]] *= 0.5
        x, y = y, x * 0.125
        u[t] = values[start[t + 1] : start[t + 1] + 1].sum()
    shown(x, y, values, u)


def by_elements(u):
    seen = np.zeros(2 * n)
    # dlb: iterate
    for t in range(3):
        # dlb: parallel, assume_independent
        for i in range(n):
            seen[(i * 2 + t) % (2 * n)] = u[i, 1] + t
        # dlb: parallel
        for i in range(n):
            u[i] += seen[i] * 0.125
        seen[t] = 0.5
    shown(u, seen)


@dataclasses.dataclass
class State:
    u: np.ndarray
    v: np.ndarray
    parts: dict

    def at(self, i):
        return self.u[i] * 0.5

    def run(self, steps):
        part = self.parts["a"]
        # dlb: iterate
        for t in range(steps):
            # dlb: parallel
            for i in range(n):
                self.v[i] = self.at(i) + part[i]
            # dlb: parallel
            for i in range(n):
                part[i] += self.v[n - 1 - i] * 0.125
            self.u, self.v = self.v, self.u
            copy = dataclasses.replace(self)
            print(t, copy.u[2].tolist(), float(self.at(3).sum()).hex(), float(self.parts["a"][4, 0]).hex())


def misjudged(u, bound):
    """A parameter used as a number is, which is a view of the array."""
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n):
            u[i] += 1.0
        print(bound, bound * 2)


by_callees(np.ones((n, m)))
by_permutations(np.arange(float(n * m)).reshape(n, m))
by_cells(np.zeros((n, m)))
by_elements(np.ones((n, m)))
state = State(np.ones((n, m)), np.zeros((n, m)), {"a": np.zeros((n, m))})
state.run(4)
shown(state.u, state.v, state.parts["a"])
field = np.zeros((n, m))
misjudged(field, field[-1])
misjudged(field, 2.5)
