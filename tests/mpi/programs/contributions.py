"""Sums, extremes, histograms, ordered containers and output of iterations; exceptions among them."""

from collections import Counter

import numpy as np

n = 83


def value(i):
    return [0.1 * i, -0.0, 1e16, 3.25 - i, -1e16][i % 5]


def sums(limit):
    total, text, product = 0.25, "", 1
    # dlb: parallel
    for i in range(limit):
        total += value(i)
        text = text + str(i)
        product *= i + 1
    return total, text, product


def extremes(values):
    low, high, best, where = 1e300, -5, -1e300, None
    # dlb: parallel, CYCLIC
    for i in range(len(values)):
        low = min(low, values[i])
        high = max(high, values[i])
        if values[i] > best:
            best = values[i]
            where = i
    return low, high, best, where


def histograms(keys):
    hist, weights, counts, seen = np.zeros(7, int), [0.5] * 7, Counter(), {}
    # dlb: parallel
    for i in range(len(keys)):
        hist[keys[i]] += 1
        weights[keys[i]] += value(i)
        counts[keys[i] * 2] += i
        seen[keys[i]] = seen.get(keys[i], 0) + 1
    return hist.tolist(), weights, counts, seen


def collected(limit):
    items, found, table = [], set(), {}
    try:
        # dlb: parallel, CYCLIC
        for i in range(limit):
            if i % 3:
                items.append((i, value(i)))
            found.add(i % 9)
            table[i % 11] = i
            print("iteration", i, value(i), 60 // (i - 70) if i > 60 else "")
    except ZeroDivisionError as error:
        print("failed:", error)
    return items, sorted(found), table


def rows(data):
    acc = np.zeros(data.shape[1])
    # dlb: parallel
    for i in range(len(data)):
        acc += data[i]
    return acc.tolist()


for size in (0, 1, n):
    print(sums(size))
    print(extremes([value(i) for i in range(size)]))
    print(histograms([i * i % 7 for i in range(size)]))
    print(collected(size))
print(rows(np.array([[value(i), value(i + 1)] for i in range(n)])))
