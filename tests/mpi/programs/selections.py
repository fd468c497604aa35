"""The best value so far, in names, in objects and in dictionaries: ties, NaN, no value at the start."""

import math
import textwrap
from fractions import Fraction

import numpy as np

values = [3.5, 2.0, 7.25, 2.0, math.nan, -0.0, 0.0, 7.25, -4.0, -4.0, 1e300, math.nan, 5.0] * 3


def from_none(items):
    best = worst = None
    where = last = -1
    # dlb: parallel
    for i, x in enumerate(items):
        if best is None or x < best:
            best, where = x, i
        if worst is None or worst <= x:
            worst = x
            last = i
    return best, where, worst, last


def from_none_sometimes(items, least):
    best, where = None, None
    # dlb: parallel, CYCLIC
    for i, x in enumerate(items):
        if i >= least and (best is None or x > best):
            best = x
            where = (i, x)
    return best, where


class Search:
    def __init__(self):
        self.best = None
        self.found = {"v": None, "i": -1}

    def run(self, items):
        # dlb: parallel
        for i, x in enumerate(items):
            if self.best is None or x < self.best:
                self.best = x
                self.where = i
                self.text = str(x)
            if self.found["v"] is None or x > self.found["v"]:
                self.found["v"] = x
                self.found["i"] = i


def in_dictionary(items):
    best = {"v": math.inf}
    # dlb: parallel
    for i, x in enumerate(items):
        if x < best["v"]:
            best["v"] = x
            best["i"] = i
    return best


print(from_none(values), from_none([]), from_none([math.nan, 1.0, 0.5]), from_none([2.0] * 30))
print(from_none([(2, "b"), (1, "z"), (1, "a"), (2, "c")] * 5), from_none(["b", "a", "c"] * 9))
print(from_none([Fraction(i % 5, 7) for i in range(20)]))
for least in (0, 1, 5, 13, 31, 100):
    print(from_none_sometimes(values, least), from_none_sometimes(values[:4] * 6, least))
search = Search()
search.run([])
print(vars(search))
search.run(values)
print(vars(search))
search.run([math.nan, -9.0] * 9)
print(vars(search))
print(in_dictionary(values), in_dictionary([math.nan] * 8), in_dictionary([]), in_dictionary([math.inf] * 8))
try:
    # dlb: parallel
    for i in range(30):
        if search.found["v"] < (x := 60 / (17 - i)):
            search.found["v"] = x
            search.found["i"] = i
except ZeroDivisionError as error:
    print("failed:", error)
print(vars(search))


class Compared:
    """Compares by looking into the other one."""

    def __init__(self, value):
        self.value = value

    def __gt__(self, other):
        return self.value > other.value

    def __lt__(self, other):
        return self.value < other.value


greatest, least = Compared(0), Compared(5)
# dlb: parallel
for value in [Compared(3), Compared(9), Compared(1), Compared(9)]:
    greatest = max(greatest, value)
    least = min(least, value)
print(greatest.value, least.value)


class Cell:
    def __init__(self, cost, genes):
        self.cost, self.genes = cost, genes


def by_parts(values):
    best, low, record, name, champion = None, (math.inf, -1), {"cost": -1.0, "i": None}, "", None
    cells = [Cell(value, [i]) for i, value in enumerate(values)]
    # dlb: parallel
    for i in range(len(values)):
        v = 2 * values[i]
        if best is None or v > best[0]:
            best = (v, i)
        if (w := v % 7) <= low[0]:
            low = [w, i, [v]]
        if w > record["cost"]:
            record = {"cost": w, "i": i}
            name = f"n{i}"
    # dlb: parallel
    for cell in cells:
        cell.genes.append(cell.cost)
        if champion is None or cell.cost > champion.cost:
            champion = cell
    where = [cell is champion for cell in cells].index(True) if cells else None
    for _ in range(2):
        champion = None
        # dlb: parallel
        for cell in cells:
            cell.cost = textwrap.fill(str(cell.cost) * 3, 7)
            if champion is None or cell.cost <= champion.cost:
                champion = cell
        champion = None
        # dlb: parallel
        for cell in cells:
            if champion is None or cell.cost <= champion.cost:
                champion = cell
    if cells:
        champion.cost = -1
    where = where, [cell.cost for cell in cells].count(-1)
    return best, low, record, name, where, champion and champion.genes


print(by_parts(values), by_parts([]), by_parts([math.nan, 3.0, math.nan, 9.0, 9.0, 1.0] * 3))


def shared_with_contributions():
    counts = {"cost": 5}
    best, items = counts, [1]
    longest = items
    # dlb: parallel
    for i in range(20):
        counts["cost"] += 1
        if (v := i * 7 % 13 + 3) > best["cost"]:
            best = {"cost": v, "i": i}
    # dlb: parallel
    for i in range(20):
        items.append(i)
        if (v := i * 7 % 13) > longest[0]:
            longest = [v, i]
    first = None
    # dlb: parallel
    for i in range(20):
        v = math.nan if i % 7 == 3 else i * 7 % 13
        if first is None:
            first = (v, i)
        elif v >= first[0]:
            first = (v, i)
    print(first)
    flag = None
    # dlb: parallel
    for i in range(20):
        f = np.float64(i * 7 % 13) > 11
        if flag is None or f > flag[0]:
            flag = (f, i)
    return best, counts, items, longest, flag


print(*shared_with_contributions())
