"""Sets are run through in one order everywhere, whatever has been done to them, also after the loop."""

import random

draw = random.Random(3)


class Node:
    def __init__(self, number):
        self.seen = {draw.randrange(5000) for _ in range(number % 40)}
        self.known = frozenset(self.seen) - {1, 2, 3}
        self.last = None


def thinned(count):
    numbers = {
        draw.randrange(-(2**65), 2**65) if draw.random() < 0.3 else draw.randrange(300) for _ in range(count)
    }
    for number in [*numbers][: count // 2]:
        numbers.discard(number)
    for _ in range(min(3, len(numbers))):
        numbers.pop()
    return numbers


N = 60
nodes = [Node(number) for number in range(N)]
near = [thinned(count) for count in range(N)]
rows = [{(i * 7919 + k * 1024) % 5000 for k in range(i % 9)} - {0} for i in range(N)]
dicts = [{(i * 7919 - k * 1024) % 5000: k for k in range(i % 9)} for i in range(N)]
many, shared = thinned(3000), thinned(50)
table = {key: thinned(30) for key in range(5)}
pairs = {(k * 37 % 101, k % 7) for k in range(90)}
places = [shared, {"shared": shared}]


def used(k):
    return [*many][k : k + 5], [*table[k % 5]], [*pairs][k : k + 3], [*{1000, 5, 77, 1029, 13}]


found, made, kept = [None] * N, [None] * N, [None] * N
# dlb: parallel
for i in range(N):
    found[i] = used(i), [*shared][:4], places[0] is places[1]["shared"]
    own = set(near[i])
    own ^= many
    both = near[i] | nodes[i].seen
    made[i] = own, frozenset(both) & many, {frozenset([i, i * 1024, 3]), frozenset(own)}
    nodes[i].seen.add(i * 31)
    nodes[i].seen.discard(i)
    if nodes[i].seen:
        nodes[i].seen.pop()
    nodes[i].last = [*nodes[i].known]
    kept[i] = shared

# dlb: parallel
for i in range(N):
    near[i].add(i * 17)
    if len(near[i]) > 5:
        near[i].pop()
        near[i] -= {i, 3, 5}
        near[i] |= {i * 1024 + k for k in range(i)}

union, keys, added, items, less = set(), set(), {1}, {(5, 6)}, {*range(0, 3000, 7)}
by_key, listed = {key: set() for key in range(5)}, []
# dlb: parallel
for i in range(N):
    row = rows[i] | {i * 1024}
    row.discard(i * 1024)
    union |= row
    keys |= dicts[i].keys()
    added.update(row, dicts[i], nodes[i].known)
    items |= dicts[i].items()
    less -= row
    by_key[i % 5] |= {i * 1024, i} | nodes[i].known
    listed += row

print(found)
print([[*x] for _, _, frozen in made for x in frozen])
for i in range(N):
    print([*made[i][1]], nodes[i].last, kept[i] is shared)
    for numbers in (made[i][0], nodes[i].seen, near[i]):
        numbers.update(range(i))
        print([*numbers], numbers.pop() if numbers else None, [*numbers.copy()])
for numbers in (union, keys, added, items, less, *by_key.values(), shared, many):
    numbers.update(range(50, 5000, 37))
    print(numbers.pop(), [*numbers])
print(listed)
