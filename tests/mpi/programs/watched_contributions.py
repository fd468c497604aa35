"""Contributions in objects beside calls that dlbc has not seen, which are watched."""

from collections import defaultdict

CODE = """
def pure(x):
    return 3.0 * x - 1

def squared(x):
    y = x * x
    return y
"""


class Totals:
    size = 0

    def __init__(self):
        self.total, self.items, self.state = 0.5, [], {"v": None, "n": 0}
        self.groups = defaultdict(list)
        self.low = None

    def run(self, function, values):
        # dlb: parallel
        for i, x in enumerate(values):
            y = function(x)
            self.total += y
            self.size += 1
            self.items.append((i, y))
            self.groups[i % 3].append(y)
            self.state["n"] += i
            if self.state["v"] is None or y > self.state["v"]:
                self.state["v"] = y
                self.state["at"] = i
            if self.low is None or y < self.low:
                self.low = y
                self.where = i


functions = {}
exec(CODE, functions)
values = [0.1 * (i * 7 % 31) - 0.5 for i in range(60)]
for name in ("pure", "squared"):
    totals, function = Totals(), functions[name]
    kept = totals.items, totals.state, totals.groups
    for part in (values[:25], [], values):
        totals.run(function, part)
        print(name, vars(totals))
    print([one is other for one, other in zip(kept, (totals.items, totals.state, totals.groups))])
