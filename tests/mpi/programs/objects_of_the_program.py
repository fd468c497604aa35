"""An object of the program that iterations put into new ones is the program's own afterwards."""

import array
import collections

import numpy as np

n = 12


class Config:
    def __init__(self):
        self.steps = [1, 2, 3]
        self.weights = np.arange(4.0)
        self.names = {"first"}


def all_are(found, expected):
    return all(one is expected for one in found)


cfg = {"dt": 0.5, "nested": {"deep": [1]}}
steps, marks, raw = [1, 2], {3}, bytearray(b"raw")
config, weights = Config(), np.arange(5.0)
counts, numbers = collections.Counter("aab"), array.array("d", [1.0, 2.0])
out, log, table = [None] * n, [], {}
# dlb: parallel, BLOCK
for i in range(n):
    out[i] = {"cfg": cfg, "steps": steps, "marks": marks, "raw": raw, "i": i}
    log.append((config, weights, counts, numbers))
    table[i] = [cfg["nested"]["deep"], config.steps, config.weights, config.names]
for name, value in (("cfg", cfg), ("steps", steps), ("marks", marks), ("raw", raw)):
    print(name, all_are([item[name] for item in out], value))
for place, value in enumerate((config, weights, counts, numbers)):
    print(type(value).__name__, all_are([item[place] for item in log], value))
inside = (cfg["nested"]["deep"], config.steps, config.weights, config.names)
print([all_are([item[place] for item in table.values()], value) for place, value in enumerate(inside)])
cfg["dt"] = 0.25
steps.append(3)
weights[0] = 9
print({item["cfg"]["dt"] for item in out}, out[0]["steps"], log[-1][1].tolist())

# What an instance refers to, and a method bound to it.
parts = [Config() for _ in range(n)]
names, bound = [None] * n, []
Config.describe = lambda self: sorted(self.names)
# dlb: parallel, CYCLIC
for i in range(n):
    part = parts[i]
    names[i] = (part.names, part.steps, part.weights[1:])
    bound.append(part)
parts[2].names.add("second")
parts[5].weights[2] = -1
print(
    all(names[i][0] is parts[i].names and names[i][1] is parts[i].steps for i in range(n)),
    names[2][0] == parts[2].names,
)
print(
    names[5][2].tolist(), [part.describe() for part in bound[:3]], all(a is b for a, b in zip(bound, parts))
)

# One object that many elements of a list refer to; elements of several lists that are the same.
shared = {"runs": 0}
jobs = [{"number": k, "shared": shared} for k in range(n)]
again = jobs[::-1]
first, second = [None] * n, [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    first[i] = jobs[i]["shared"]
    second[i] = [jobs[i], again[i]]
shared["runs"] += 1
print(all_are(first, shared), all(a is jobs[i] and b is again[i] for i, (a, b) in enumerate(second)))

# Under other keys, in tuples, in sets, as keys, and as what a temporary holds afterwards.
tags = [frozenset({k, "tag"}) for k in range(n)]
owners, index, chosen = {}, [None] * n, None
# dlb: parallel, BLOCK
for i in range(n):
    owners[tags[i]] = config
    index[i] = ((cfg, i), {"list": [steps]})
    chosen = jobs[i]
print(
    all_are(owners.values(), config), all(key is tags[k] for k, key in enumerate(owners)), chosen is jobs[-1]
)
print(all_are([pair[0][0] for pair in index], cfg), all_are([pair[1]["list"][0] for pair in index], steps))

# A view of what is only read, beside rows that are stored to.
grid = np.zeros((n, 3))
# dlb: parallel, BLOCK
for i in range(n):
    grid[i] = i
    log.append({"row": grid[i], "weights": weights[1:3]})
weights[1], grid[3] = 77, -3
print({item["weights"].tolist()[0] for item in log[n:]}, [item["row"].tolist() for item in log[n:]])


# The same in a function, with closures and attributes.
class Mesh:
    def __init__(self, count):
        self.cells = [Config() for _ in range(count)]
        self.settings = {"tolerance": 1e-3}
        self.rows = [[k] for k in range(count)]

    def collect(self):
        found, links = [None] * len(self.cells), []
        # dlb: parallel, BLOCK
        for i in range(len(self.cells)):
            found[i] = (self.settings, self.cells[i])
            links.append(self.rows[i])
        return found, links


mesh = Mesh(n)
found, links = mesh.collect()
print(
    all_are([one for one, _ in found], mesh.settings),
    all(b is mesh.cells[k] for k, (_, b) in enumerate(found)),
)
print(all(link is row for link, row in zip(links, mesh.rows)))
