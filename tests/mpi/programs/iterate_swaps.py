"""Routines whose arrays change names between passes: two, three, now and then, in a list, as attributes."""

import numpy as np

n, m = 23, 5


def bits(*arrays):
    print([float(x).hex() for a in arrays for x in (a.sum(), a[0, 0], a[-1, -1], a[len(a) // 2, 1])])


def start(seed):
    return np.random.default_rng(seed).random((n, m))


def smooth(u, steps):
    first, second = u, u.copy()
    v = second
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1])
        u, v = v, u
    print(u is first, v is first, u is second)
    bits(u, v, first, second)


def wave(steps):
    older, old, new = start(1), start(2), np.zeros((n, m))
    kept = [older, old, new]
    # dlb: iterate, tolerance=0.1
    for t in range(steps):
        # dlb: parallel
        for i in range(n):
            above = old[i - 1] if i > 0 else 0.0
            below = old[i + 1] if i < n - 1 else 0.0
            new[i] = 2.0 * old[i] - older[i] + 0.2 * (above - 2.0 * old[i] + below)
        older, old, new = old, new, older
        if t == 3:
            print("in the middle", float(old[n // 2, 0]).hex(), float(older[0, -1]).hex())
    bits(*kept)
    print([k for k, a in enumerate(kept) if a is old])


def now_and_then(steps):
    u, v = start(3), start(4)
    swapped = 0
    # dlb: iterate, model=constant
    for t in range(steps):
        change = 0.0
        # dlb: parallel
        for i in range(n):
            v[i] = 0.9 * u[i] + 0.01 * i
            change = max(change, abs(v[i] - u[i]).max())
        if t % 3 == 1 or change < 0.05:
            u, v = v, u
            swapped += 1
        elif t % 3 == 2:
            spare = u
            u = v
            v = spare
            del spare
    print(swapped, change.hex())
    bits(u, v)


def in_a_list(steps):
    fields = [start(5), start(6), start(7)]
    # dlb: iterate, model=akima, every=2
    for t in range(steps):
        a, b = fields[t % 3], fields[(t + 1) % 3]
        # dlb: parallel
        for i in range(n):
            b[i] += a[i] * 0.5
        fields.reverse()
        fields[0], fields[1] = fields[1], fields[0]
        x, *rest = fields
        # dlb: parallel
        for i in range(n):
            x[i] -= rest[0][i] * 0.25
    bits(*fields)


class Pair:
    def __init__(self):
        self.now, self.next = start(8), start(9)

    def swap(self):
        self.now, self.next = self.next, self.now

    def run(self, steps):
        # dlb: iterate
        for t in range(steps):
            # dlb: parallel
            for i in range(1, n):
                self.next[i] = self.now[i - 1] * 0.75 + self.now[i] * 0.25
            if t % 2:
                self.now, self.next = self.next, self.now
            else:
                self.swap()


for steps in (0, 1, 2, 7):
    smooth(start(0), steps)
wave(8)
now_and_then(9)
in_a_list(5)
pair = Pair()
pair.run(4)
bits(pair.now, pair.next)
