"""An object that an iteration keeps in several places is one object after the loop."""

import collections
import dataclasses
from typing import NamedTuple

import numpy as np

n = 13


class Node:
    def __init__(self, key):
        self.key = key
        self.links = []


class Slotted:
    __slots__ = ("__hidden", "links")

    def __init__(self, key):
        self.__hidden = key
        self.links = [self]

    def key(self):
        return self.__hidden


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    key: int
    place: str = "here"


def same(one, other):
    return all(a is b for a, b in zip(one, other, strict=True))


# A node in a list, under its name and in the order of its making.
nodes, by_name, order = [None] * n, {}, []
# dlb: parallel, BLOCK
for i in range(n):
    nd = Node(i)
    nodes[i] = nd
    by_name[f"node {i}"] = nd
    order.append(nd)
print(same(nodes, order), same(nodes, by_name.values()), nd is nodes[-1])
nodes[3].key = 33
print([node.key for node in order], by_name["node 3"].key)

# Dictionaries, lists, sets, byte arrays: in two lists each.
for make in (lambda k: {"k": k}, lambda k: [k], lambda k: {k}, lambda k: bytearray([k]), lambda k: (k, [k])):
    here, there, log = [None] * n, [None] * n, []
    # dlb: parallel, CYCLIC
    for i in range(n):
        made = make(i)
        here[i] = made
        there[n - 1 - i] = made
        log.append([made, made])
    print(
        same(here, there[::-1]),
        same(here, [one for one, _ in log]),
        all(a is b for a, b in log),
        made is here[-1],
    )

# An array and its views.
arrays, tails, turned, sums = [None] * n, [None] * n, [], {}
# dlb: parallel, BLOCK
for i in range(n):
    a = np.arange(6.0) + i
    arrays[i] = a
    tails[i] = a[2:]
    turned.append(a.reshape(2, 3).T[::-1])
    sums[i] = a
for a in arrays:
    a *= 10
print([tail.tolist() for tail in tails], turned[-1].tolist(), same(arrays, sums.values()))
print(all(tail.base is a for tail, a in zip(tails, arrays)), turned[2].flags.writeable, a is arrays[-1])

# Two views of memory that is kept nowhere else.
left, right = [None] * n, [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    both = np.zeros(4)
    left[i], right[i] = both[:3], both[1:]
both = None
for row in left:
    row[1] = 7
print([row.tolist() for row in right])

# What a temporary refers to is the item that was stored.
table = {}
boxes = [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    box = {"content": [i]}
    content = box["content"]
    boxes[i] = box
    table[i] = content
print(box is boxes[-1], content is boxes[-1]["content"], content is table[n - 1])

# Objects with references to each other, also in circles.
roots, leaves = [None] * n, []
# dlb: parallel, BLOCK
for i in range(n):
    root, leaf = Node(i), Node(-i)
    root.links.append(leaf)
    leaf.links.append(root)
    roots[i] = root
    leaves.append(leaf)
print(
    all(r.links[0] is f and f.links[0] is r for r, f in zip(roots, leaves)),
    root is roots[-1],
    leaf is leaves[-1],
)

# New objects with slots in place of a dictionary.
slotted, by_key, records = [None] * n, {}, []
# dlb: parallel, BLOCK
for i in range(n):
    nd = Slotted(i)
    slotted[i] = by_key[i] = nd
    records.append((nd, Record(i), Record(i, place="there")))
print(same(slotted, by_key.values()), [nd.key() for nd in slotted], all(nd.links[0] is nd for nd in slotted))
print(records[5][1:], any(hasattr(value, "__dict__") for row in records for value in row))

# The same object more than once in a list, and in a queue, a set and a defaultdict.
queue, seen, groups = collections.deque(), set(), collections.defaultdict(list)
# dlb: parallel, BLOCK
for i in range(n):
    nd = Node(i)
    queue.append(nd)
    queue.append(nd)
    seen.add(nd)
    nodes[i] = nd
print(all(queue[2 * i] is queue[2 * i + 1] is nodes[i] for i in range(n)), set(nodes) == seen)

# An element of one list kept in another one, and what is in it.
pairs = [[[k], {"k": k}] for k in range(n)]
firsts, wholes, inner = [None] * n, {}, []
# dlb: parallel, CYCLIC
for i in range(n):
    pair = pairs[i]
    firsts[i] = pair[0]
    wholes[i] = (pair, pair[1])
    inner.append(pair[1])
print(
    same(firsts, [pair[0] for pair in pairs]),
    all(wholes[i][0] is pairs[i] for i in range(n)),
    pair is pairs[-1],
)
print(same(inner, [pair[1] for pair in pairs]), all(wholes[i][1] is pairs[i][1] for i in range(n)))

# Items of a list that the loop goes through.
kept, chosen = [None] * n, {}
# dlb: parallel, BLOCK
for i, node in enumerate(roots):
    kept[i] = node
    if i % 3 == 0:
        chosen[node.key] = node.links
print(same(kept, roots), all(chosen[k] is roots[k].links for k in chosen))


# Long journals.
def many(count):
    places, trail = [None] * count, []
    # dlb: parallel, BLOCK
    for i in range(count):
        cell = [i]
        places[i] = cell
        trail.append(cell)
        trail.append((i, "text"))
    return same(places, trail[::2]), trail[-1]


print(many(50_000))


class Corner(NamedTuple):
    x: int
    y: int = 2


class Signed(Corner):
    __slots__ = ()


corners = [None] * 6
# dlb: parallel
for i in range(6):
    corners[i] = Corner(i), Signed(i, -i)._replace(x=9)
print(corners, all(type(a) is Corner and type(b) is Signed for a, b in corners))
