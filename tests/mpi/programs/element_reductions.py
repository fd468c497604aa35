"""Elements that several iterations update: arrays, lists, dictionaries, in place where Python is."""

from collections import Counter, defaultdict

import numpy as np

np.seterr(over="ignore")
SIZE = 80
rng = np.random.default_rng(8)
X = rng.normal(size=SIZE) * 10.0 ** rng.integers(-6, 6, size=SIZE)
K = rng.integers(0, 6, size=SIZE)
WORDS = [f"w{k}" for k in rng.integers(0, 9, size=SIZE)]


def bits(values):
    return [float(v).hex() for v in np.ravel(values)]


def arrays(deal):
    hist, sums, low, seen = np.zeros(6, int), np.zeros(6), np.full(6, np.inf), np.zeros(6, int)
    table, narrow = np.zeros((6, 3)), np.zeros(6, np.int8)
    again = hist
    if deal:
        # dlb: parallel, CYCLIC
        for i in range(SIZE):
            hist[K[i]] += 1
            sums[K[i]] += X[i]
    else:
        # dlb: parallel
        for i in range(SIZE):
            hist[K[i]] += 1
            sums[K[i]] = sums[K[i]] + X[i]
            low[K[i]] = min(low[K[i]], X[i])
            np.add.at(seen, [K[i], 0], 2)
            for k in range(3):
                table[K[i], k] += X[i] * k
            narrow[K[i]] += 100
    print(hist.tolist(), bits(sums), bits(low), seen.tolist(), bits(table), narrow.tolist(), again is hist)


def lists():
    counts, products, marks, rows = [0] * 6, [1.0] * 6, [False] * 6, [np.zeros(2) for _ in range(6)]
    first = rows[0]
    # dlb: parallel
    for i in range(SIZE):
        counts[K[i]] += 1
        products[K[i]] *= 1.0 + 1e-6 * X[i]
        marks[K[i]] = marks[K[i]] or X[i] > 0
        rows[K[i]] += X[i]
    print(counts, bits(products), [bool(m) for m in marks], bits(rows), first is rows[0])


def dictionaries():
    plain, counter, default, totals = {"w3": 5}, Counter(), defaultdict(int), {}
    # dlb: parallel
    for i in range(SIZE):
        plain[WORDS[i]] = plain.get(WORDS[i], 0) + 1
        counter[WORDS[i]] += 1
        default[WORDS[i]] += i
        totals[WORDS[i]] = totals.get(WORDS[i], 0.0) + X[i]
    print(plain, counter, dict(default))
    print([(k, float(v).hex()) for k, v in totals.items()])


def whole():
    acc = np.zeros(4)
    # dlb: parallel
    for i in range(SIZE):
        acc[:] += X[i]
        acc[1:3] += X[i] * np.ones(2)
    print(bits(acc))


def unordered():
    weights, hist = np.zeros(6), [0] * 6
    # dlb: parallel, reduction(weights, hist, order=any)
    for i in range(SIZE):
        weights[K[i]] += float(K[i])
        hist[K[i]] += 2
    print(weights.tolist(), hist)


arrays(False)
arrays(True)
lists()
dictionaries()
whole()
unordered()
