from collections import defaultdict

import numpy as np


class Mesh:
    def __init__(self):
        self.__volume = 0.0
        self.faces = []
        self.hist = np.zeros(5, int)
        self.groups = defaultdict(list)
        self.stats = {"n": 0, "max": -1.0}
        self.best = None
        self.where = -1
        self.bad = False

    def scaled(self, x):
        return 2.0 * x

    def measure(self, sizes):
        # dlb: parallel
        for i in range(len(sizes)):
            size = self.scaled(sizes[i])
            self.__volume += size
            self.faces.append(i)
            self.hist[i % 5] += 1
            self.groups[i % 3].append(size)
            self.stats["n"] += 1
            self.stats["max"] = max(self.stats["max"], size)
            if self.best is None or size < self.best:
                self.best, self.where = size, i
            if size < 0:
                self.bad = True
        return self.__volume


mesh = Mesh()
print(mesh.measure(np.linspace(3.0, 1.0, 7)), vars(mesh))
state = {"best": 1e9, "errors": [], "by_key": {}}
low = np.full(2, 1e9)
# dlb: parallel
for i in range(9):
    x = (i - 4.5) ** 2
    if x < state["best"]:
        state["best"] = x
        state["at"] = i
    if i % 4 == 3:
        state["errors"].append(i)
    state["by_key"].setdefault(i % 2, []).append(x)
    np.minimum(low, [x, i], out=low)
print(state, low)
