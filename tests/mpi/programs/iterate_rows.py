"""What subscripts of arrays that stay on the ranks give, change and raise; each is evaluated once."""

import numpy as np

n, m = 9, 4
log = []


def at(k):
    log.append(k)
    return k


def attempt(action):
    try:
        return action()
    except (IndexError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)


u = np.arange(n * m, dtype=float).reshape(n, m)
names = ["a", "b", "c", "d"]
table = {"u": u, (1, 2): u[1, 2]}
kept = u[3]
# dlb: iterate
for step in range(4):
    # dlb: parallel
    for i in range(n):
        u[i] = u[i] * 0.5 + step
    print(
        u[at(-1)].tolist(), u[at(2), at(-2)], u[at(0) : at(7) : 3, 1].tolist(), u[..., 0].sum(), u[[0, -1], 2]
    )
    print(
        table["u"][at(4)][1:][at(0)],
        table[at(1), 2],
        u[u[:, 0] > 4, 3].tolist(),
        u[()].shape,
        u[None, 2].shape,
    )
    print(u[3] is kept, u[3].base is u, u[5, 1].hex(), u[True].shape, u[np.int64(6), 1])
    print(
        attempt(lambda: u[n]), attempt(lambda: u[0, m]), attempt(lambda: u["x"]), attempt(lambda: u[0, 0, 0])
    )
    for key in (n, -n - 1, (0, m), 1.5, "x", (0, 0, 0)):
        try:
            print(u[key])
        except IndexError as error:
            print(key, error)
        try:
            u[key] = 1.0
        except (IndexError, ValueError) as error:
            print(key, error)
    u[at(step)] += u[at(step + 1)]
    u[at(-2), 1:3] *= 2.0
    u[at(1)][at(2)] = step
    u[0], u[at(8), 0] = u[8].copy(), u[0, 0]
    with np.errstate(all="raise"):
        try:
            u[2] /= np.array([2.0, 1.0, 0.0, 4.0])  # stored, though it fails
        except FloatingPointError as error:
            print(error)
    u[2, 2] = 0.25
    try:
        u[4] += np.ones(m + 1)
    except ValueError as error:
        print(error)
    del names[at(0)]
    names[len(names) :] = ["e"]
    print(names, log, u.tobytes().hex()[:64], u.sum())
    log.clear()
    try:
        for u[at(7), 0] in (1.0, 2.0, u[9, 0]):
            print(u[7, 0])
    except IndexError as error:
        print(error)
print(u.tolist(), kept.tolist())
