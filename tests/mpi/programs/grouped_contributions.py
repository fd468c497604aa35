"""Iterations add to the items of containers, and to containers by other methods; exceptions among them."""

import heapq
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

n = 67
words = ["delta", "alpha", "beta", "alpha", "gamma", "", "beta", "alphabet"]


def key(i):
    return words[i * 5 % 8][:3]


def groups(limit):
    lists, sets, counters = defaultdict(list), defaultdict(set), defaultdict(Counter)
    made, makes = {}, {}
    present = {key(i): [i] for i in range(8)}
    buckets = [[] for _ in range(6)]
    shared = [[]] * 3
    # dlb: parallel
    for i in range(limit):
        lists[key(i)].append(i)
        lists[i % 3].extend([i, -i])
        sets[key(i)].add(i % 7)
        counters[i % 2].update(key(i))
        made.setdefault(key(i), []).append((i, 0.1 * i))
        makes.setdefault(i % 5, i)
        present[key(i)].append(i)
        buckets[i * 7 % 6].append(i)
        shared[i % 3].append(i)
    return lists, {k: sorted(v) for k, v in sets.items()}, counters, made, makes, present, buckets, shared


def made_and_read(limit):
    made, stored, sizes = {}, {"delta": ["before"]}, []
    # dlb: parallel
    for i in range(limit):
        if i % 3 == 0:
            made.setdefault(key(i), [])
        stored[key(i)] = [i]
        stored[key(i)].append(-i)
        if i > 20:
            made.setdefault(key(i), [i])
            made[key(i)].append(i)
        sizes.append([])
        sizes[i].append(i)
    return made, stored, sizes


def of_both_kinds(limit):
    stored, groups, made = {}, defaultdict(list), {}
    # dlb: parallel
    for i in range(limit):
        stored[i % 4] = [i]
        stored[i % 4].append(-i)
        groups[i % 3].append(i)
        made.setdefault(i % 5, []).append(i)
    return stored, dict(groups), made


def not_there(limit):
    found = {}
    try:
        # dlb: parallel
        for i in range(limit):
            if i < 5:
                found[key(i)] = [i]
            found[key(i)].append(i)
    except KeyError as error:
        return error.args, found
    return found


def added(limit):
    counter, table, found, ordered, ends = Counter(z=1), {}, set(), OrderedDict(), deque(maxlen=5)
    front, back, by_name = [], [], {}
    # dlb: parallel, CYCLIC
    for i in range(limit):
        counter.update(key(i))
        counter.update({"n": i}, m=1)
        table.update({key(i): i, i % 4: -i})
        by_name.update(last=i, **{key(i) or "none": i})
        found.update([i % 5, i % 3])
        ordered[key(i)] = i
        ends.appendleft(i)
        front.insert(0, i)
        back.extend(range(i % 3))
    return counter, table, sorted(found), ordered, ends, front, back, by_name


def own_lists(limit):
    own, growing = [[] for _ in range(limit)], defaultdict(list)
    # dlb: parallel
    for i in range(limit):
        own[i].append(i)
        own[i].append(-i)
        growing[i].append(2 * i)
    return own, growing


def failing(limit):
    present, lists, made, seen = {k: [] for k in range(5)}, defaultdict(list), {}, Counter()
    try:
        # dlb: parallel
        for i in range(limit):
            seen.update([i % 3])
            present[i % 5 if i != 41 else "none"].append(i)
            lists[i % 4 if i < 30 else i].append(i)
            made.setdefault(i % 6, []).append(i)
    except KeyError as error:
        print("failed:", repr(error))
    print(present, dict(lists), made, seen)
    try:
        # dlb: parallel
        for i in range(limit):
            lists["new" if i == 37 else "old"].append(60 // (37 - i))
    except ZeroDivisionError as error:
        print("failed:", error, dict(lists))
    caught = Counter()
    # dlb: parallel
    for i in range(limit):
        try:
            present[i % 9].append(i)
        except KeyError as error:
            caught[error.args[0]] += 1
    print(present, caught)


def arrays(limit):
    best, total, rows = np.full(4, -1e9), np.zeros(4), np.zeros((3, 4))
    least = np.full(4, 5)
    # dlb: parallel
    for i in range(limit):
        row = np.array([i % 7, -i, np.nan if i == 50 else 0.1 * i, -0.0])
        np.maximum(best, row, out=best)
        np.add(row, total, out=total)
        np.minimum(i, least, out=least)
        rows[:] += row
    return best.tobytes().hex(), total.tobytes().hex(), least, rows.tobytes().hex()


for part in groups(n):
    print(part)
for part in added(n):
    print(part)
for part in own_lists(12):
    print(part)
failing(n)
print(*arrays(n))
heap = []
# dlb: parallel
for i in range(n):
    heap.append((i * 37 % 23, i))
heapq.heapify(heap)
print(heap)
print(*made_and_read(n), *of_both_kinds(n), not_there(n), not_there(4), sep="\n")
