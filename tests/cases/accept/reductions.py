import numpy as np


def of_names(X, flags, start):
    total = product = start
    below = 0.0
    steps = 0
    largest, least = X[0], X[0]
    every, some = True, False
    text = ""
    # dlb: parallel, reduction(total, below), reduction(product, order=any)
    for i in range(len(X)):
        # A comment above the first statement.
        v = X[i] * 2
        total += v
        product = product * v
        below = below - v
        for k in range(i):
            steps += k
        largest = max(largest, v)
        least = min(v, least)
        every = every and flags[i] > 0
        some = some or flags[i] > 0
        text = text + "x" + "y"
    return total, product, below, steps, largest, least, every, some, text


def of_the_best(X):
    best, least = -np.inf, np.inf
    where = row = None
    top = 0.0
    # dlb: parallel, CYCLIC
    for i in range(len(X)):
        v = X[i].sum()
        if v > best:
            best, where = v, i
            row = X[i].copy()
        if i % 2 and least >= v:
            least = v
        top = v if v > top else top
    return best, where, row, least, top


def of_elements(X, b, hist, sums, low, counts, seen, weights):
    # dlb: parallel, reduction(weights, order=any)
    for i in range(len(X)):
        hist[b[i]] += 1
        sums[b[i]] = sums[b[i]] + X[i]
        low[b[i]] = min(low[b[i]], X[i])
        counts[b[i]] = counts.get(b[i], 0) + 1
        np.add.at(seen, b[i], 1)
        for k in range(3):
            weights[b[i], k] += X[i] * k


def of_rows(X, total):
    # dlb: parallel
    for i in range(len(X)):
        total += X[i]
    return total
