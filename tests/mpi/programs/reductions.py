"""Every kind of reduction of a name: bits, types and identities are those of the sequential program."""

import numpy as np

SIZE = 60
rng = np.random.default_rng(5)
X = rng.normal(size=SIZE) * 10.0 ** rng.integers(-8, 8, size=SIZE)
K = rng.integers(0, 7, size=SIZE)


def show(*values):
    print(*(v.hex() if isinstance(v, float) else repr(v) for v in values))


def one_update():
    total, product, below, bits, mask, odd = 0.1, 1.0, 1e9, 0, -1, 0
    # dlb: parallel
    for i in range(SIZE):
        total += X[i]
        product = product * (1.0 + 1e-3 * X[i] / (1.0 + abs(X[i])))
        below = below - X[i]
        bits |= 1 << int(K[i])
        mask = mask & ~(1 << int(K[i]))
        odd ^= i
    show(total, product, below, bits, mask, odd, type(total).__name__)


def chains():
    s, t = 0.0, 1
    # dlb: parallel
    for i in range(SIZE):
        s = X[i] + s + 0.3 - X[i] * 0.5
        t = t + i - 2
    show(s, t)


def several():
    s, steps, text = 0, 0, ""
    # dlb: parallel
    for i in range(SIZE):
        for k in range(int(K[i])):
            s += k * i
        s += 1
        for _ in range(i % 3):
            steps -= 1
            text += str(i) + ","
    show(s, steps, text)


def other_types():
    items = rows = [0]
    names = ""
    seen = {-1}
    acc = start = np.zeros(3)
    # dlb: parallel
    for i in range(SIZE):
        items += [i, int(K[i])]
        names = f"{i % 10}" + names
        seen |= {int(K[i])}
        acc += X[i] * np.arange(3)
    show(items, names, sorted(seen), items is rows, acc is start, [float(a) for a in acc])


def extremes():
    largest, least, late, word = X[0], 1e300, -1, ""
    longest = (0, "")
    # dlb: parallel
    for i in range(SIZE):
        largest = max(largest, X[i])
        least = min(X[i], least)
        late = max(K[i] * 1.0 if i % 2 else int(K[i]), late)
        word = max(word, f"{K[i]}{i}")
        longest = max(longest, (int(K[i]), str(i)))
    show(largest, least, late, type(late).__name__, word, longest)


def not_a_number():
    values = [3.0, float("nan"), 5.0, float("nan"), 4.0] * 4
    first, low = float("-inf"), float("nan")
    best, where = -1.0, None
    # dlb: parallel
    for i in range(len(values)):
        first = max(first, values[i])
        low = min(low, values[i])
        if values[i] > best:
            best, where = values[i], i
    show(first, low, best, where)


def logic():
    every, some, first, none = True, False, [], 0
    decided = False
    # dlb: parallel
    for i in range(SIZE):
        every = every and K[i] >= 0
        some = some or K[i] == 6
        first = first or ([i] if K[i] == 3 else [])
        none = none or 0
        decided = decided and X[1000 + i]
    show(bool(every), bool(some), first, none, decided)


def selections(deal):
    best, least, where, row, tie, last = -np.inf, np.inf, None, None, -1, -1
    count = unset = None
    table = X.reshape(-1, 4)
    top = 0.0
    if deal:
        # dlb: parallel, CYCLIC
        for i in range(len(table)):
            for j in range(4):
                if table[i, j] > best:
                    best, where = table[i, j], (i, j)
                    row = [float(x) for x in table[i]]
            if (k := int(K[i])) > tie:
                tie, count = k, i
            top = table[i, 0] if top < table[i, 0] else top
    else:
        # dlb: parallel
        for i in range(SIZE):
            v = float(X[i])
            if v < least:
                least = v
                where = i
            if i % 2 and int(K[i]) >= last:
                last, count = int(K[i]), i
            if v > 1e300:
                best, unset = v, i
    show(float(best), least, where, row, tie, last, count, unset, float(top))


def unordered():
    s, n = 0, 0
    # dlb: parallel, reduction(s, n, order=any)
    for i in range(SIZE):
        s += int(K[i])
        for k in range(3):
            n += k
    show(s, n)


def nothing():
    s, best = 2.5, 7
    # dlb: parallel
    for i in range(0):
        s += i
        if i > best:
            best = i
    show(s, best)


class Sum:
    def run(self):
        __total = 0
        # dlb: parallel, CYCLIC
        for i in range(SIZE):
            __total += int(K[i])
        return __total


one_update()
chains()
several()
other_types()
extremes()
not_a_number()
logic()
selections(False)
selections(True)
unordered()
nothing()
show(Sum().run())
