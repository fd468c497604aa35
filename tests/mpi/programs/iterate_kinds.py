"""Routines over lists, numbers of all types, records, objects, layouts; views and their base as arrays."""

import numpy as np

n = 14


def shown(a):
    if isinstance(a, np.ndarray) and not a.dtype.hasobject:
        print(a.dtype.str, a.shape, a.strides if a.size else (), a.tobytes().hex()[:96])
    else:
        print(a)


def turned(u, v, steps):
    """Rows go round: every row of v is the one before it in u; then the names are swapped."""
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel
        for i in range(len(u)):
            v[i] = u[i - 1]
        u, v = v, u
        v[t] = u[t]
    shown(u)
    shown(v)


def halved(u):
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(len(u)):
            u[i] = u[i] // 2 + t
        u[t], u[-1] = u[-1], u[t]
    shown(u)


def rows_of_lists(steps):
    u = [[float(i * k) for k in range(3)] for i in range(n)]
    v = [[0.0] * 3 for _ in range(n)]
    inner = v[4]
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel
        for i in range(1, n - 1):
            for k in range(3):
                v[i][k] = 0.5 * (u[i - 1][k] + u[i + 1][k])
        u, v = v, u
        u[0][t % 3] = 1.0
        v[n - 1] = [float(t)] * 3
        print(inner, sum(map(sum, u)).hex())
    print(u, v, inner is u[4] or inner is v[4])


def records():
    kind = np.dtype([("place", "f8", (2,)), ("speed", "f4"), ("name", "U4"), ("alive", "?")])
    p, q = np.zeros(n, kind), np.zeros(n, kind)
    p["speed"] = np.arange(n) / 4
    p["name"] = [f"p{i}" for i in range(n)]
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            q[i] = p[(i * 3) % n]
        places, speeds = q["place"], q["speed"]
        # dlb: parallel
        for i in range(n):
            places[i] += speeds[i] * 0.5
        p, q = q, p
        p["alive"] = p["speed"] > 1
        p[t]["speed"] += 1
        print(p[t]["name"], p["place"][t].tolist(), int(p["alive"].sum()))
    shown(p)
    shown(q)


def with_their_base(u):
    inner, edge = u[1:-1], u[:1]
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(len(inner)):
            inner[i] = inner[i] * 0.5 + i
        u[0] = inner[0]
        edge[0] += 1
        # dlb: parallel
        for i in range(len(u)):
            u[i] += t
        print(float(inner[3, 0]).hex(), float(u[4, 0]).hex(), float(edge.sum()).hex())
    shown(u)
    shown(inner)


def halves(u):
    left, right = u[: n // 2], u[n // 2 :]
    even, odd = u[::2], u[1::2]
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n // 2):
            left[i] = right[i] + 1
        # dlb: parallel
        for i in range(n // 2):
            odd[i] = even[i] * 2 + odd[i]
        left, right = right, left
    shown(u)


def own_classes():
    class Tracked(np.ndarray):
        pass

    u = np.arange(float(n)).view(Tracked)
    masked = np.ma.array(np.arange(float(n)), mask=np.arange(n) % 3 == 0)
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n):
            u[i] = u[i] * 0.5 + masked.data[i]
        masked.data[t] += 1.0
        masked[t + 5] = np.ma.masked
        print(type(u).__name__, float(u[t]).hex(), masked.sum())
    print(u.tolist(), masked.tolist())


base = np.random.default_rng(0).random((n, 4))
for a in (
    np.arange(n),
    np.arange(n) % 3 == 0,
    np.arange(n, dtype="i1"),
    np.arange(n, dtype=">u2"),
    np.arange(n, dtype="f4") * 1j,
    np.arange(n).astype("M8[D]"),
    np.array([f"text {k}" for k in range(n)]),
    np.array([None, {}, [1], "q", 1.5, 2**70, *range(6, n)], dtype=object),
    np.asfortranarray(base),
    base[::-1, ::2],
    base.reshape(n, 2, 2)[:, :, ::-1],
    np.zeros((0, 3)),
    list(range(n)),
    [f"word {k}" for k in range(n)],
    [(k,) for k in range(n)],
):
    turned(a.copy(), a.copy(), min(3, len(a)))
    if isinstance(a, np.ndarray):
        turned(a, np.zeros_like(a)[::-1], min(2, len(a)))
for a in (np.arange(n) * 5, np.arange(n, dtype="f4") * 5, [2**66 + k for k in range(n)], base.astype("u1")):
    halved(a)
rows_of_lists(4)
records()
with_their_base(np.random.default_rng(1).random((n, 2)))
with_their_base(np.asfortranarray(np.random.default_rng(1).random((n, 2)))[::-1])
halves(np.arange(n))
halves(np.arange(2 * n).reshape(2, n).T)
own_classes()
