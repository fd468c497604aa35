"""Rows selected by the items that a loop runs over: each stored once, or rank 0 runs the loop alone."""

import numpy as np

n = 45
order = sorted(range(n), key=str)
numbers = np.array(order)
A = np.arange(3.0 * n).reshape(n, 3)


def shown(name, *arrays):
    print(name, *(each.tobytes().hex() if isinstance(each, np.ndarray) else each for each in arrays))


# dlb: parallel
for j in order:
    A[j] = A[j] * 0.5 + j
shown("list", A, j)

# dlb: parallel, CYCLIC
for j in numbers:
    A[j, 1:] += A[j, 0] * j
shown("array", A)

# dlb: parallel
for k, j in enumerate(order):
    A[j] = A[j] - k * 0.25
shown("enumerate", A, k)

pairs = [(k, n - 1 - k) for k in range(n // 2)]
# dlb: parallel
for low, high in pairs:
    A[low], A[high] = A[high] * 1.0, A[low] * 2.0
shown("pairs", A)

values = [0.5 * k for k in range(n)]
rows = [[k] for k in range(n)]
# dlb: parallel
for j, value in zip(order, values):
    rows[j].append(value)
    rows[j] = rows[j] + [j]
print("lists", rows)

# dlb: parallel
for j in order[::2]:
    A[j - n] *= 3
shown("from the end", A)

# dlb: parallel
for j in order[: n - 1]:
    if j > 0:
        A[2 * j // 2] = A[2 * j // 2] + 1
shown("other subscripts", A)


def twice(items):
    # dlb: parallel
    for j in items:
        A[j] = A[j] * 2 + 1
    shown("twice", A)


twice([3, 4, 3, 5] * 5)
twice(order)
twice(np.array([n + 3, 1])[1:])

try:
    # dlb: parallel
    for j in [*order, n + 2]:
        A[j] = A[j] + 1
except IndexError as error:
    shown("out of range", A, error, j)

table, first = np.zeros((3, 5)), np.zeros(4)
# dlb: parallel
for i, j in np.ndindex(3, 5):
    table[i, j] = 10 * i + j
# dlb: parallel
for j in [3, 3, 1]:
    first[j] = first.size + j
shown("stores alone", table, first)

counts = {}
words = ["a", "bb", "a", "ccc"] * 9
# dlb: parallel
for word in words:
    counts[word] = counts.get(word, 0) + 1
print(counts)

lengths = dict.fromkeys(["a", "bb", "ccc"], 0)
try:
    # dlb: parallel
    for word in ["a", "bb", "ccc"]:
        lengths[word] = lengths[word] + len(word)
finally:
    print(lengths)
