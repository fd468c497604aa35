"""Arrays of many kinds and layouts, sequences and iterables of many kinds, read and stored."""

import array
import collections
import sys

import numpy as np

n = 9


def shown(x):
    if isinstance(x, np.ma.MaskedArray) or (isinstance(x, np.ndarray) and x.dtype.hasobject):
        return type(x).__name__, x.tolist()
    if isinstance(x, np.ndarray):
        return type(x).__name__, x.dtype.str, x.shape, x.strides if x.size else (), x.tobytes().hex()[:64]
    return x


def copied(source, target, count):
    # dlb: parallel, BLOCK
    for i in range(count):
        target[i] = source[i]
    return shown(target)


def elements(source, count):
    found = [None] * count
    # dlb: parallel, BLOCK
    for i in range(count):
        found[i] = source[i]
    return [shown(value) for value in found]


def iterated(iterable):
    found = [None] * 12
    # dlb: parallel, BLOCK
    for k, x in enumerate(iterable):
        found[k] = x
    return [shown(value) for value in found], k


base = np.random.default_rng(0).random((n, 4))
arrays = [
    np.asfortranarray(base),
    base[::-1, ::2],
    base.reshape(n, 2, 2)[:, :, ::-1],
    np.arange(n, dtype=">i4"),
    np.arange(n).astype("M8[D]"),
    np.arange(n) > 3,
    np.arange(n, dtype="f2") * 1j,
    np.array([f"text {k}" for k in range(n)]),
    np.array([(k, k * 0.5, "s") for k in range(n)], dtype=[("a", "i4"), ("b", ">f8"), ("c", "U3")]),
    np.array([None, {}, [1], "q", 1.5, 2**70, 4, 5, 6], dtype=object),
    np.ma.array(np.arange(n * 1.0), mask=np.arange(n) % 2 == 0),
    np.broadcast_to(np.arange(3.0), (n, 3)),
    np.zeros((0, 3)),
]
for a in arrays:
    print(copied(a, np.zeros_like(a, order="C"), len(a)), copied(a, np.zeros_like(a)[::-1], len(a)))
    print(elements(a, len(a)))
for values in (
    "héllo wör",
    b"bytesbyte",
    tuple(range(n)),
    collections.deque(range(n)),
    array.array("d", range(n)),
    {k: k * k for k in range(n)},
    memoryview(b"abcdefghi"),
    [2**70 + k for k in range(n)],
):
    print(elements(values, n), copied(values, [0] * n, n))


class Own:
    def __getitem__(self, place):
        if place >= 7:
            raise IndexError
        return place * 3


for iterable in (
    (k * k for k in range(n)),
    {1: 2, 3: 4}.items(),
    "abcü",
    collections.deque("abc"),
    Own(),
    map(str, range(4)),
    base[:3],
    iter([4, 5]),
    sys.argv[1:],
):
    print(iterated(iterable))
