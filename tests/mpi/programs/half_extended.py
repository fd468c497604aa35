"""Containers that are extended by an iterable which fails half-way: they have what came before."""

import array
from collections import Counter, defaultdict, deque


def given(k):
    yield k
    yield k + 1
    if k == 13:
        raise KeyError(k)
    yield k + 2


def lists(a):
    # dlb: parallel
    for k in range(20):
        a.extend(given(k))


def sets(a):
    # dlb: parallel
    for k in range(20):
        a.update([k * 100], given(k))


def dictionaries(a):
    # dlb: parallel
    for k in range(20):
        a.update((j, k) for j in given(k))


def ends(a):
    # dlb: parallel
    for k in range(20):
        a.extendleft(given(k))


def added(a):
    # dlb: parallel
    for k in range(20):
        a += given(k)


def groups(a):
    # dlb: parallel
    for k in range(20):
        a[k % 3].extend(given(k))


def counts(a, n):
    # dlb: parallel
    for k in range(20):
        a.update(f"w{j % 7}" for j in given(k))
        n.append(k)


def counts_of_parts(a):
    # dlb: parallel
    for k in range(20):
        a.update(["x", 1, k % 3, (k % 2, "y")])
        a.update({"z": 2})
        a.update(given(k))


def run(loop, *held):
    try:
        loop(*held)
    except Exception as error:
        print(type(error).__name__, error)
    print(loop.__name__, *(list(each.items()) if isinstance(each, dict) else each for each in held))


run(lists, [])
run(lists, bytearray())
run(lists, array.array("q"))
run(sets, set())
run(dictionaries, {})
run(ends, deque())
run(added, [])
run(groups, defaultdict(list))
run(counts, Counter(), [])
run(counts, Counter(w1=2.5), [])
run(counts_of_parts, Counter({True: 1}))
