"""What iterations add to containers and print comes out in their order; a failure cuts it where it must."""

import sys
from collections import deque

import numpy as np

SIZE = 40


def square(i):
    if i % 7 == 0:
        print("  squaring", i)
    return i * i


def containers():
    items, ends, found, squares, out = [], deque(maxlen=9), set(), {}, [0] * 11
    grid = np.zeros(11)
    # dlb: parallel
    for i in range(SIZE):
        v = square(i)
        part = [i]
        items.append(part)
        part.append(v)
        if i % 3:
            items.extend(k for k in range(i % 4))
        ends.appendleft((i, v))
        found.add(v % 13)
        squares[f"{i % 17}"] = v
        out[v % 11] = i
        grid[(3 * v) % 11] = i
    print(items, list(ends), sorted(found), squares, out, grid.tolist())


def dealt():
    items = []
    # dlb: parallel, CYCLIC
    for i in reversed(range(SIZE)):
        items.append(i)
        print(i, end=" ")
        sys.stdout.write(".")
    print(items)


def over_items():
    lengths, seen = {}, []
    # dlb: parallel
    for word in "the order of the iterations is the order of the effects".split():
        lengths[word] = len(word)
        seen.append(word.upper())
    print(lengths, seen)


def failing():
    items, total, hist, best, where = [], 0, [0] * 5, -1, None
    try:
        # dlb: parallel
        for i in range(SIZE):
            print("step", i)
            items.append(i)
            total += i
            hist[i % 5] += 1
            if i % 9 > best:
                best, where = i % 9, i
            if i in (13, 29):
                raise ValueError(f"no {i}")
            items.append(-i)
    except ValueError as error:
        print("failed:", error)
    print(items, total, hist, best, where, i)


containers()
dealt()
over_items()
failing()
