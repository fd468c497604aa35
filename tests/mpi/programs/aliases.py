"""Arrays that overlap, the same object twice, negative subscripts: right results in any case."""

from types import MappingProxyType

import numpy as np


def shift(a, b, n):
    # dlb: parallel, BLOCK
    for i in range(n):
        a[i] = b[i] + 1
    return a


base = np.arange(20.0)
print(shift(base[1:], base[:-1], 19).tolist())
print(shift(base, base, 20).tolist())
x = np.arange(10.0)
print(shift(x[::2], x[1::2], 5).tolist(), x.tolist())
rows = [[0] * 3] * 4
# dlb: parallel, BLOCK
for i in range(4):
    for k in range(3):
        rows[i][k] = i
print(rows)
ring = np.zeros(8)
# dlb: parallel, BLOCK
for i in range(8):
    ring[i - 3] = i
print(ring.tolist())
store = {}
# dlb: parallel, BLOCK
for i in range(5):
    store[i] = i * i
print(store)
grid = np.arange(30.0).reshape(6, 5)
flat = grid.reshape(-1)
across = grid.ravel()
# dlb: parallel, BLOCK
for k in range(0, len(flat), 2):
    flat[k] = -flat[k]
down = grid.T
# dlb: parallel, BLOCK
for j in range(5):
    down[j, 1:] = 2 * down[j, :-1]
print(grid.tolist())
first = grid[:, 0]
second = grid[:, 1]
# dlb: parallel, BLOCK
for i in range(6):
    first[i] += i
    second[i] = 2 * first[i]
print(grid.tolist())
# dlb: parallel, BLOCK
for i in range(5):
    down[i, 0] = across[2 * i + 5] + 1
print(grid.tolist())


class Holder:
    def __init__(self, **held):
        self.__dict__.update(held)

    def pairs(self):
        """Each item of the list is looked at with all of them."""
        found = []
        # dlb: parallel
        for x in self.xs:
            found.append(x + len([y for y in self.xs if y]))
        return found

    def read(self, other):
        found = np.zeros(len(self.a))
        # dlb: parallel
        for i in range(len(self.a)):
            found[i] = self.a[i] + self.xs[i] + other.held.a.sum() + len([y for y in other.held.xs if y])
        return found.tolist()

    def stored(self, other):
        # dlb: parallel
        for i in range(len(self.a)):
            self.a[i] = self.a[i] * 2 + other.held.a.sum()
        return self.a.tolist()


def in_a_dictionary(xs, box):
    found = np.zeros(len(xs))
    # dlb: parallel, BLOCK
    for i in range(len(xs)):
        found[i] = xs[i] + len([x for x in box["xs"] if x])
    return found.tolist()


def iterated(box):
    found = []
    # dlb: parallel
    for k, x in enumerate(box["xs"]):
        found.append((k, x, box["xs"].count(None)))
    return found


def under_keys(state, other):
    found = []
    # dlb: parallel
    for i in range(9):
        found.append(state["grid"]["v"][i] + other.grid["v"].sum())
    return found


def with_what_items_hold(holder, items):
    found = np.zeros(len(items))
    # dlb: parallel
    for i, item in enumerate(items):
        found[i] = holder.a[i] + item.held.a.sum() + len([x for x in item.held.xs if x])
    # dlb: parallel
    for i, item in enumerate(items):
        holder.a[i] = holder.a[i] / 2 + item.held.a.sum()
    return found.tolist(), holder.a.tolist()


holder = Holder(xs=[float(k + 1) for k in range(9)], a=np.arange(9.0))
print(holder.pairs(), holder.read(Holder(held=holder)), holder.stored(Holder(held=holder)))
print(in_a_dictionary(holder.xs, {"xs": holder.xs}), iterated({"xs": holder.xs}))
grid = {"v": np.arange(9.0)}
print(under_keys({"grid": grid}, Holder(grid=grid)))
print(with_what_items_hold(holder, [Holder(held=holder) for _ in range(9)]))


def shown(table, view, proxy, fixed):
    sizes, parts = [], []
    # dlb: parallel
    for i in range(9):
        table[i] = 1
        sizes.append((len(view), len(proxy)))
    # dlb: parallel
    for i in range(7):
        parts.append(fixed[i : i + 2])
    return sizes, [part.flags.writeable for part in parts], all(part.base is fixed for part in parts)


table, fixed = {}, np.arange(9.0)
fixed.flags.writeable = False
print(shown(table, table.keys(), MappingProxyType(table), fixed))
parts = []
# dlb: parallel
for i in range(8):
    parts.append(fixed[i : i + 2])
print([part.flags.writeable for part in parts], [part.base is fixed for part in parts])
