"""What cannot be sent: generators, locks, lists and chains that are too deep, what cannot be read."""

import sys
import threading
import traceback

import numpy as np


def tb():
    e = sys.exception()
    return (
        type(e).__name__,
        str(e),
        [(f.lineno, f.name, f.line) for f in traceback.extract_tb(e.__traceback__)][-1],
    )


def deep(k):
    x = []
    for _ in range(k):
        x = [x]
    return x


def depth(x):
    k = 0
    while x:
        x = x[0]
        k += 1
    return k


def g(i):
    yield i
    yield i + 1


def stores(n):
    out = [None] * n
    # dlb: parallel
    for i in range(n):
        out[i] = g(i)
    print("stores", [list(o) for o in out])


def locks(n):
    out = [None] * n
    # dlb: parallel
    for i in range(n):
        out[i] = threading.Lock()
    print("locks", [o.locked() for o in out])


def deeps(n):
    out = [None] * n
    # dlb: parallel
    for i in range(n):
        out[i] = deep(3000)
    print("deep", [depth(o) for o in out])


def temp(n):
    # dlb: parallel
    for i in range(n):
        t = g(i)
    print("temp", list(t))


def templock(n):
    # dlb: parallel
    for i in range(n):
        t = threading.Lock()
    print("templock", t.locked())


def tempdeep(n):
    # dlb: parallel
    for i in range(n):
        t = deep(3000)
    print("tempdeep", depth(t))


def app(n):
    out = []
    # dlb: parallel
    for i in range(n):
        out.append(g(i))
    print("app", [list(o) for o in out])


def appdeep(n):
    out = []
    # dlb: parallel
    for i in range(n):
        out.append(deep(3000))
    print("appdeep", [depth(o) for o in out])


def dic(n):
    out = {}
    # dlb: parallel
    for i in range(n):
        out[i] = g(i)
    print("dic", [list(o) for o in out.values()])


def half(n):
    out = [None] * n
    s = 0
    L = []
    # dlb: parallel
    for i in range(n):
        s += i
        L.append(i)
        print("half", i)
        out[i] = g(i) if i == 7 else i
    print("half", [o if isinstance(o, int) else list(o) for o in out], s, L)


for f in (stores, locks, deeps, temp, templock, tempdeep, app, appdeep, dic, half):
    try:
        f(12)
    except Exception:
        print(f.__name__, tb())


class Link:
    def __init__(self, number, rest):
        self.number, self.rest = number, rest


def chains(n):
    heads, sums = [None] * n, []
    for number in range(20_000):
        heads = [Link(number, head) for head in heads]
    # dlb: parallel
    for head in heads:
        total = 0
        while head is not None:
            total += head.number
            head = head.rest
        sums.append(total)
    print("chains", sums)


chains(3)
limit = sys.getrecursionlimit()
sys.setrecursionlimit(100_000)  # more than the stack of C has room for in a pickler
chains(3)
sys.setrecursionlimit(limit)


def fails_0(n, at):
    out, A, s, t = [None] * n, np.ones(n), 0, None
    try:
        # dlb: parallel
        for i in range(n):
            A[i] += i
            s += 1
            t = i
            out[i] = g(i) if i % 4 == 3 else i
            print("f", i)
            if i in at:
                raise ValueError(i)
            t = -i
    except ValueError as error:
        print(
            error,
            s,
            t,
            i,
            A[: min(at) + 1],
            [o if isinstance(o, int) else list(o) for o in out[: min(at) + 1]],
        )


def fails_1(n, at):
    out, A, s, t = [None] * n, np.ones(n), 0, None
    try:
        # dlb: parallel
        for i in range(n):
            A[i] += i
            s += 1
            t = i
            out[i] = g(i) if i % 4 == 3 else i
            print("f", i)
            if i in at:
                raise ValueError(i)
            t = -i
    except ValueError as error:
        print(
            error,
            s,
            t,
            i,
            A[: min(at) + 1],
            [o if isinstance(o, int) else list(o) for o in out[: min(at) + 1]],
        )


def fails_2(n, at):
    out, A, s, t = [None] * n, np.ones(n), 0, None
    try:
        # dlb: parallel
        for i in range(n):
            A[i] += i
            s += 1
            t = i
            out[i] = g(i) if i % 4 == 3 else i
            print("f", i)
            if i in at:
                raise ValueError(i)
            t = -i
    except ValueError as error:
        print(
            error,
            s,
            t,
            i,
            A[: min(at) + 1],
            [o if isinstance(o, int) else list(o) for o in out[: min(at) + 1]],
        )


def fails_3(n, at):
    out, A, s, t = [None] * n, np.ones(n), 0, None
    try:
        # dlb: parallel
        for i in range(n):
            A[i] += i
            s += 1
            t = i
            out[i] = g(i) if i % 4 == 3 else i
            print("f", i)
            if i in at:
                raise ValueError(i)
            t = -i
    except ValueError as error:
        print(
            error,
            s,
            t,
            i,
            A[: min(at) + 1],
            [o if isinstance(o, int) else list(o) for o in out[: min(at) + 1]],
        )


def fails_4(n, at):
    out, A, s, t = [None] * n, np.ones(n), 0, None
    try:
        # dlb: parallel
        for i in range(n):
            A[i] += i
            s += 1
            t = i
            out[i] = g(i) if i % 4 == 3 else i
            print("f", i)
            if i in at:
                raise ValueError(i)
            t = -i
    except ValueError as error:
        print(
            error,
            s,
            t,
            i,
            A[: min(at) + 1],
            [o if isinstance(o, int) else list(o) for o in out[: min(at) + 1]],
        )


def fails_5(n, at):
    out, A, s, t = [None] * n, np.ones(n), 0, None
    try:
        # dlb: parallel
        for i in range(n):
            A[i] += i
            s += 1
            t = i
            out[i] = g(i) if i % 4 == 3 else i
            print("f", i)
            if i in at:
                raise ValueError(i)
            t = -i
    except ValueError as error:
        print(
            error,
            s,
            t,
            i,
            A[: min(at) + 1],
            [o if isinstance(o, int) else list(o) for o in out[: min(at) + 1]],
        )


for fails, at in zip(
    (fails_0, fails_1, fails_2, fails_3, fails_4, fails_5), ((5,), (2,), (11,), (7, 3), (8, 9), (0,))
):
    fails(12, at)


def inputs(n):
    locks = [threading.Lock() for _ in range(n)]
    found = [0] * n
    # dlb: parallel
    for i in range(n):
        found[i] = locks[i].locked() + i
    print(found)


def swapped(n):
    locks = [threading.Lock() for _ in range(n)]
    # dlb: parallel
    for i in range(n):
        locks[i] = locks[i].locked()
    print(locks)


def deeps(n):
    xs = [deep(3000) for _ in range(n)]
    ys = [0] * n
    # dlb: parallel
    for i in range(n):
        ys[i] = len(xs[i])
    print(ys)


def deeps2(n):
    xs = [deep(3000) for _ in range(n)]
    # dlb: parallel
    for i in range(n):
        xs[i] = len(xs[i])
    print(xs)


def over(n):
    xs = [deep(3000) for _ in range(n)]
    s = 0
    # dlb: parallel
    for x in xs:
        s += len(x)
    print(s)


def again(n):
    for rep in range(3):
        out = [None] * n
        s = 0
        # dlb: parallel
        for i in range(n):
            out[i] = g(i + rep)
            s += i
        print([next(o) for o in out], s)


def cyc(n):
    out = [None] * n
    A = np.zeros(n)
    # dlb: parallel, CYCLIC
    for i in range(n):
        A[i] = i
        out[i] = g(i)
        t = i
    print([next(o) for o in out], A, t)


def whole(n):
    out = [None] * n
    A = np.zeros(n)
    p = list(range(n))[::-1]
    # dlb: parallel, WHOLE
    for i in range(n):
        A[p[i]] = i
        out[p[i]] = g(i)
    print([next(o) for o in out], A)


for f in (inputs, swapped, deeps, deeps2, over, again, cyc, whole):
    f(12)


class Node:
    def __init__(self, k):
        self.k = k


def identities(n):
    nodes, order, out, gens, cfg = [None] * n, [], [None] * n, [None] * n, {"a": 1}
    # dlb: parallel
    for i in range(n):
        nd = Node(i)
        nodes[i] = nd
        order.append(nd)
        out[i] = {"cfg": cfg, "nd": nd}
        if i == 5:
            gens[i] = g(i)
    print([a is b and o["nd"] is a and o["cfg"] is cfg for a, b, o in zip(nodes, order, out)])
    print(nd is order[-1], nd.k, list(gens[5]))


def identities_of_a_failure(n):
    nodes, order, gens = [None] * n, [], [None] * n
    try:
        # dlb: parallel
        for i in range(n):
            nd = Node(i)
            nodes[i] = nd
            order.append(nd)
            if i == 9:
                raise ValueError(i)
            if i == 5:
                gens[i] = g(i)
    except ValueError as e:
        print("failed", e)
    print([a is b for a, b in zip(nodes, order)], nd is order[-1], nd.k, list(gens[5]))


class Unread:
    def __init__(self, k):
        self.k = k

    def __setstate__(self, state):
        raise ValueError("no way back")


class Made:
    def __new__(cls, k):
        made = super().__new__(cls)
        made.k = k
        return made


def unread(n):
    out, kept = [None] * n, []
    # dlb: parallel
    for i in range(n):
        out[i] = Unread(i)
        kept.append(out[i])
        last = out[i]
    print([o.k for o in out], [a is b for a, b in zip(out, kept)], last is out[-1])


def made(n):
    out = []
    # dlb: parallel
    for i in range(n):
        out.append(Made(i))
    print([o.k for o in out])


for f in (identities, identities_of_a_failure, unread, made):
    f(12)
