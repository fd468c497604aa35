"""Iterations contribute to attributes and to items under constant keys; exceptions and aliases among them."""

import math
from collections import Counter, OrderedDict, defaultdict

import numpy as np

n = 61


def value(i):
    return [0.1 * i, -0.0, 1e16, 3.25 - i, -1e16][i % 5]


class Totals:
    def __init__(self):
        self.total = 0.25
        self.count = 0
        self.items = ["first"]
        self.hist = np.zeros(7, int)
        self.weights = [0.5] * 7
        self.stats = {"n": 0, "sum": 0.0, "max": -9.0}
        self.seen = {}
        self.by_key = defaultdict(list)
        self.best = math.inf
        self.where = None
        self.failed = False
        self.scale = 2.0
        self.__private = 1

    def double(self, x):
        return self.scale * x

    def run(self, limit):
        # dlb: parallel
        for i in range(limit):
            x = self.double(value(i))
            self.total += x
            self.count = self.count + 1
            self.items.append((i, x))
            self.hist[i % 7] += 1
            self.weights[i % 3] += x
            self.stats["n"] += 1
            self.stats["sum"] += x
            self.stats["max"] = max(self.stats["max"], x)
            self.seen[i % 11] = i
            self.by_key[i % 4].append(x)
            if x < self.best:
                self.best, self.where = x, i
            self.failed = self.failed or x > 1e15
            self.__private += i
            print("iteration", i, 60 // (i - 50) if i > 45 else "")

    def extremes(self, values):
        # dlb: parallel, CYCLIC
        for i, x in enumerate(values):
            if x > 2.0:
                self.count += 1
                self.count += i
            self.best = min(self.best, x)
            self.items += [x]

    def shown(self):
        kept = (self.total, self.count, self.items, self.hist.tolist(), self.weights, self.stats, self.seen)
        return kept, dict(self.by_key), self.best, self.where, self.failed, self.__private, list(vars(self))


def objects():
    totals = Totals()
    before = totals.items, totals.hist, totals.weights, totals.stats, totals.seen, totals.by_key
    totals.run(40)
    print(totals.shown())
    totals.extremes([value(i) for i in range(n)])
    after = totals.items, totals.hist, totals.weights, totals.stats, totals.seen, totals.by_key
    print(totals.shown(), [one is other for one, other in zip(before, after)])
    try:
        totals.run(n)
    except ZeroDivisionError as error:
        print("failed:", error)
    print(totals.shown())
    totals.run(0)
    print(totals.shown())


class Part:
    def __init__(self):
        self.n = 0


class Watch:
    last_seen = None

    def __init__(self):
        self.alarm, self.part, self.factor, self.text = False, Part(), 3, ""

    def run(self, values):
        # dlb: parallel
        for i, x in enumerate(values):
            if x > 5.0:
                self.alarm = True
                self.last_seen = i
            self.part.n += scaled(self, i)
            self.text = str(10 // (x - 7))


def scaled(watch, i):
    return watch.factor * i


def watches():
    watch = Watch()
    for values in ([1.0] * 9, [1.0, 6.0, 2.0, 5.5, 3.0] * 4, [1.0, 6.0, 8.0] * 5 + [7, 9.0, 1.0]):
        try:
            watch.run(values)
        except ZeroDivisionError as error:
            print("failed:", error)
        print({name: held for name, held in vars(watch).items() if name != "part"}, watch.part.n)


class Slotted:
    __slots__ = ("low", "names")

    def __init__(self):
        self.low, self.names = 5, []


class Defaults:
    count = 0
    found = None


def kinds_of_objects(limit):
    slotted, defaults, untouched = Slotted(), Defaults(), Defaults()
    ordered, counter = OrderedDict(a=1, b=2), Counter(n=2)
    # dlb: parallel
    for i in range(limit):
        slotted.low = min(slotted.low, value(i))
        slotted.names.append(i)
        defaults.count += 1
        ordered["a"] += i
        ordered["b"] *= 2
        counter["n"] += 1
        if i > 1000:
            untouched.count += 1
    print(slotted.low, slotted.names, vars(defaults), vars(untouched), ordered, counter)


def states(values):
    state = {"best": math.inf, "errors": [], "n": 0, "hist": [0] * 5, "scale": 3}
    extent = [math.inf, -math.inf]
    # dlb: parallel
    for i, x in enumerate(values):
        if x < state["best"]:
            state["best"] = x
            state["where"] = i
        if x < 0:
            state["errors"].append((i, x))
        state["n"] += state["scale"]
        state["hist"][i % 5] += 1
        extent[0] = min(extent[0], x)
        extent[1] = max(extent[1], x)
    return state, extent


def missing():
    state = {"n": 0}
    try:
        # dlb: parallel
        for i in range(20):
            state["n"] += 1
            if i == 7:
                state["m"] += 1
    except KeyError as error:
        print("failed:", error, state)
    # dlb: parallel
    for i in range(20):
        state["n"] *= 2
        if i > 50:
            state["m"] = max(state["m"], i)
    print(state)


def aliases():
    one, other = Totals(), Totals()
    pairs = [(one, other), (one, one)]
    for left, right in pairs:
        # dlb: parallel
        for i in range(12):
            left.total += value(i)
            right.total += 1.0
            left.items.append(i)
    other.items = one.items
    # dlb: parallel
    for i in range(12):
        one.items.append(i)
        other.items.append(-i)
    shared = [one.items]
    # dlb: parallel
    for i in range(12):
        one.items.append(len(shared[0]))
    print(one.total, one.items, other.total, other.items is one.items)


class Tally:
    """Its methods contribute, some through others."""

    def __init__(self):
        self.sum, self.least, self.best, self.where, self.last = 0.0, math.inf, None, None, None
        self.calls, self.text, self.by, self.log = 0, "", {}, []

    def enter(self, i, x, *, twice=False):
        self.tick(i % 3)
        self.sum += x
        self.least = min(self.least, x)
        if self.best is None or x > self.best:
            self.best = x
            self.where = i
        if twice:
            self.log.append((i, "twice"))
        self.log.append(i)

    def tick(self, key):
        by = self.by
        by[key] = by.get(key, 0) + 1
        self.text += str(key)
        self.calls += 1
        self.last = key

    def weigh(self, x):
        self.calls += 1
        return x / 3


def bump(counts, key, by=1):
    counts[key] += by


def note(groups, seen, key, value):
    groups.setdefault(key, []).append(value)
    seen.add(value % 5)


def through_calls():
    tally, counts, groups, seen, weights = Tally(), [0] * 4, {}, set(), [0.0] * 26
    # dlb: parallel
    for i in range(26):
        tally.enter(i, value(i), twice=i % 7 == 0)
        weights[i] = tally.weigh(i) + sum(tally.weigh(k) for k in range(3))
        bump(counts, i * i % 4, by=2)
        note(groups, seen, i % 5, i)
    print(vars(tally), weights, counts, groups, sorted(seen))
    for one, other in ((Tally(), Tally()), (tally, tally)):
        # dlb: parallel
        for i in range(12):
            one.tick(i)
            other.tick(-i)
        print(one.text, one.by, other.text, other.last)
    try:
        # dlb: parallel
        for i in range(20):
            tally.enter(i, value(i) if i != 13 else None)
    except TypeError as error:
        print(type(error).__name__, tally.calls, tally.text, tally.log[-1])


class Tree:
    def __init__(self, depth):
        self.weight, self.children = float(depth), []
        if depth:
            self.children = [Tree(depth - 1), Tree(depth - 1)]

    def gather(self):
        # dlb: parallel
        for child in self.children * 6:
            self.weight += child.weight


objects()
watches()
kinds_of_objects(40)
print(states([value(i) for i in range(n)]))
print(states([]), states([math.nan, 1.0, 1.0, math.nan, -0.0, 0.0, -7.0, -7.0]))
missing()
aliases()
through_calls()
tree = Tree(3)
tree.gather()
print(tree.weight)


class Held:
    def __init__(self):
        self.total, self.best, self.at, self.items = 0, -1, None, []


def looked_at(n, of):
    """What holds the values is reached in another way as well, by which iterations read them."""
    held = Held()
    other = {"name": held, "list": [held], "function": lambda: held, "attribute": Held()}
    other["attribute"].back = held
    ways = {
        "name": lambda: other["name"],
        "list": lambda: other["list"][0],
        "function": lambda: other["function"](),
        "attribute": lambda: other["attribute"].back,
    }
    seen = [0] * n
    way = ways[of]
    # dlb: parallel
    for i in range(n):
        held.total += i
        if i * 3 % 7 > held.best:
            held.best, held.at = i * 3 % 7, i
        held.items.append(i)
        seen[i] = way().total, way().at, len(way().items)
    print(of, held.total, held.best, held.at, held.items, seen)


for of in ("name", "list", "function", "attribute"):
    looked_at(9, of)


def named_twice(n):
    held = Held()
    again, seen = held, [0] * n
    # dlb: parallel
    for i in range(n):
        if i * 3 % 7 > held.best:
            held.best = i * 3 % 7
            held.at = i
        seen[i] = again.at
    print(seen, held.best, held.at)


def among_the_items(n):
    items = [Held() for _ in range(n)]
    for number, item in enumerate(items):
        item.total = number
    first = items[0]
    # dlb: parallel
    for item in items:
        first.total += item.total
    print([item.total for item in items])


def under_keys(n):
    table = {"a": {"n": 0}}
    again, seen = table, [0] * n
    # dlb: parallel
    for i in range(n):
        table["a"]["n"] += i
        seen[i] = again["a"]["n"]
    print(table, seen)


named_twice(8)
among_the_items(6)
under_keys(8)
