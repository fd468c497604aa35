"""Profiles over sequences and other iterables."""

import time

import numpy as np

xs = [float(i) for i in range(30)]
text = "abcdefghij"
arr = np.arange(24.0)
B = np.zeros((30, 3))
out = [0.0] * 30


def work(x):
    time.sleep(0.0002)
    return x


for rep in range(4):
    n = (30, 7, 0, 12)[rep]
    s = 0
    # dlb: parallel, profile(group=5, every=1, threshold=0.01)
    for x in xs[:n]:
        s += work(x) * 0.1
    # dlb: parallel, profile(group=5, every=1, threshold=0.01)
    for i, x in enumerate(xs[:n], 3):
        out[i - 3] = work(x) * rep + i
    # dlb: parallel, profile(group=4, every=1, threshold=0.0)
    for a, b in zip(xs[:n], B):
        s += work(a) + b.sum()
    # dlb: parallel, profile(group=1, every=1, threshold=0.0)
    for k in {j: j for j in range(n)}.items():
        s += k[1]
    # dlb: parallel, profile(group=100)
    for x in reversed(xs[:n]):
        s += work(x)
    # dlb: parallel, profile, CYCLIC
    for row in B:
        s += row.sum()
    # dlb: parallel, profile(group=7)
    for i in range(n):
        s += work(i)
    # dlb: parallel, profile(group=3, every=1, threshold=0.0)
    for x in arr[: n // 2]:
        s += work(x)
    # dlb: parallel, profile
    for c in text[:n]:
        s += len(c)
    try:
        # dlb: parallel, profile(group=2, every=1, threshold=0.0)
        for x in xs[:n]:
            s += work(x)
            if x == 6.0 and rep % 2:
                raise ValueError(x)
    except ValueError as e:
        print(e)
    print(s, out)
