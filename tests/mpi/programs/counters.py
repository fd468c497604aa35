"""Counters that iterations update: counts, and the order of their keys, also where an iteration fails."""

import re
from collections import Counter

TEXTS = ["".join(chr(97 + (i * k) % 11) + " " * (k % 3) for k in range(1, 40)) for i in range(60)]


def words(i):
    return re.findall("[a-z]+", TEXTS[i % 60])


totals, pairs, letters, longest = Counter({"k": 3}), Counter(), Counter(), []
# dlb: parallel
for i in range(90):
    found = words(i)
    totals.update(found)
    pairs.update(zip(found, found[1:]))
    letters.update(TEXTS[i % 60])
    longest.append(max(map(len, found)))
print(list(totals.items()))
print(list(pairs.items()))
print(list(letters.items()), longest)

# Other updates come in between, and leave other numbers
# dlb: parallel
for i in range(30):
    totals.update(words(i))
    if i % 9 == 4:
        totals.update({"a": 0.1, "new": i})
    letters.update(x=i)
print(list(totals.items()), letters["x"])

# Iterations that cost more and more, in pairs
triangle, many = Counter(), 0
# dlb: parallel, fold
for i in range(40):
    for k in range(i):
        triangle.update([k % 7, (i + k) % 5])
    many += len(TEXTS[i])
print(list(triangle.items()), many)

# dlb: parallel, CYCLIC
for i in range(40):
    triangle.update([i % 9, "c"])
print(list(triangle.items()))

# One counter under two names
one = other = Counter()
# dlb: parallel
for i in range(40):
    one.update([i % 7])
    other.update([i % 5])
print(list(one.items()))

# What has no hash is met at its iteration
counts, seen = Counter(), []
try:
    # dlb: parallel
    for i in range(40):
        counts.update(words(i))
        seen.append(i)
        counts.update([i, [] if i == 23 else ()])
except TypeError as error:
    print(error, list(counts.items()), seen)
try:
    # dlb: parallel
    for i in range(40):
        counts.update(words(i))
        seen.append(1 // (27 - i))
except ZeroDivisionError as error:
    print(error, list(counts.items()), seen)
