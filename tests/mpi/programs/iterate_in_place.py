"""Routines that update in place; code between the loops reads and writes elements, rows, slices, arrays."""

import numpy as np

n, m = 20, 4


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[:: max(1, np.size(a) // 5)]])


def start(seed=0):
    return np.random.default_rng(seed).random((n, m))


def red_and_black():
    u = start()
    # dlb: iterate
    for t in range(5):
        for colour in (1, 2):
            # dlb: parallel
            for i in range(colour, n - 1, 2):
                u[i] = 0.5 * (u[i - 1] + u[i + 1])
    shown(u)


def elements_and_rows():
    u, v = start(1), start(2)
    # dlb: iterate
    for t in range(6):
        # dlb: parallel
        for i in range(n):
            u[i] = u[i] * 0.5 + v[i]
        u[0] = 1.0
        u[-1, 2] = t
        u[t, t % m] += u[n - 1 - t, 0]
        v[3:6] = u[4:7] * 0.25
        v[t + 1 : n - 2 : 3, 1] -= 0.5
        u[2], v[2] = v[2].copy(), u[2].copy()
        x, (y, *z) = u[5, 0], v[6]
        print(x.hex(), y.hex(), [e.hex() for e in z], u[7][1].hex(), float(v[..., 0][8]).hex())
    shown(u, v)


def whole_arrays():
    u, v = start(3), start(4)
    # dlb: iterate
    for t in range(5):
        # dlb: parallel
        for i in range(1, n):
            v[i] += u[i - 1]
        if t == 0:
            u *= 0.5
        elif t == 1:
            np.copyto(u, v)
        elif t == 2:
            np.add(u, 1.0, out=v)
        elif t == 3:
            u[:] = v[::-1]
            v.fill(0.25)
        else:
            u -= v
            v[...] = 1.0
        u.sort(axis=1)
        print(float(v.sum()).hex(), float(np.max(u)).hex(), len(u), u.shape, v.dtype)
    shown(u, v)


def unusual_subscripts():
    u, v = start(5), np.zeros((n, m))
    marks = np.arange(n) % 3 == 0
    places = [4, 1, 1, 9]
    # dlb: iterate
    for t in range(5):
        # dlb: parallel
        for i in range(n):
            v[i] = u[i] + 0.125 * i
        # dlb: parallel
        for i in range(n):
            u[i] -= v[i] * 0.5
        u[marks] = t
        u[places, 2] += 1.0
        v.flat[5] = 3.0
        u[u > 2.0] = 2.0
        v[np.array([-1, 0])] *= 0.5
        np.add.at(v, places, 0.25)
        v.ravel()[7] = -1.0
        u.reshape(-1, 2)[3] += 0.5
        u.T[1, 2:4] = 0.0
        for row in v[10:12]:
            row[0] += 1.0
        for row, other in zip(u, v):
            other[3] = row[3]
        place = u[1].argmax()
        u[1, place], rest = 0.0, [float(e) for e in v[:, 1] if e > 1.0]
        print(len(rest), sum(rest).hex(), (u == 0.0).sum(), float(np.dot(u[0], v[0])).hex(), 2.0 in u)
    shown(u, v)


def conditional_and_logical():
    u, v = start(6), start(7)
    best = None
    # dlb: iterate
    for t in range(5):
        # dlb: parallel
        for i in range(n):
            u[i] = np.sqrt(u[i] + v[i])
        w = u if t % 2 else v
        w[1] += 1.0
        z = (lambda: v[2, 0])() if u[3, 0] > v[3, 0] else None
        while u[4, 1] < 1.5:
            u[4, 1] += 0.25
        best = max(best or 0.0, float(u[0, 0]), key=lambda e: e * u[0, 1])
        with np.errstate(divide="ignore"):
            v[5] /= u[6, 0] - u[6, 0]
            v[5] = [1.0 for _ in range(m)]
        try:
            assert u[7, 0] < 0, f"{u[7, 0]:.3f}"
        except AssertionError as error:
            print(error, z, best.hex())
        match u[8].tolist():
            case [a, *_] if a > 1.0:
                print("large", a.hex())
            case _:
                print("small", f"{v[9]}", str(u[9, 0]), format(v[9, 1], ".3f"))
        del w
    shown(u, v)


red_and_black()
elements_and_rows()
whole_arrays()
unusual_subscripts()
conditional_and_logical()
