"""Large attributes and items that a body does not use stay at rank 0; what it uses in some way arrives."""

import numpy as np

MANY = 6_000
TABLE = [str(k) for k in range(MANY)]
WEIGHTS = list(range(MANY))


class Model:
    kinds = ["a"] * MANY

    def __init__(self, n):
        self.x = np.linspace(0.0, 1.0, n)
        self.out = np.zeros(n)
        self.history = np.arange(float(MANY))
        self.log = [str(k) for k in range(MANY)]
        self.seen = {k: str(k) for k in range(MANY)}
        self.notes = "n" * MANY
        self.parts = {"small": 2.0, "large": list(range(MANY))}

    def plain(self):
        # dlb: parallel
        for i in range(len(self.x)):
            self.out[i] = self.x[i] * 2

    @property
    def size(self):
        return len(self.log) + len(self.kinds) + len(self.notes)

    def read(self, i):
        return self.history[i] + len(self.seen[i])

    def by_methods(self):
        # dlb: parallel
        for i in range(len(self.x)):
            self.out[i] = self.size + self.read(i) + self.x[i]

    def part(self, key):
        # dlb: parallel
        for i in range(len(self.x)):
            self.out[i] = self.x[i] * self.parts["small"]
        print(self.out.sum())
        # dlb: parallel
        for i in range(len(self.x)):
            self.out[i] = self.x[i] * self.parts[key][i]

    def rare(self):
        # dlb: parallel
        for i in range(len(self.x)):
            self.out[i] = self.x[i]
            if i == len(self.x) - 2:
                self.out[i] += len(self.log) + len(self.kinds)

    def of_module(self):
        # dlb: parallel
        for i in range(len(self.x)):
            self.out[i] = len(TABLE[i]) + self.x[i]


class Careful(Model):
    def __getstate__(self):
        return {**vars(self), "log": list(reversed(self.log))}

    def __setstate__(self, state):
        vars(self).update(state, log=list(reversed(state["log"])))


def show(model):
    print(model.out.tobytes().hex(), len(model.log), model.log[7], model.history[9])


for model in (Model(40), Careful(30)):
    model.plain()
    show(model)
    model.by_methods()
    show(model)
    model.part("large")
    show(model)
    model.rare()
    show(model)
    model.of_module()
    show(model)
    model.plain()
    model.log.append("more")
    model.rare()
    show(model)

total = [0.0] * 20
models = [Model(3) for _ in range(2)]
# dlb: parallel
for i in range(20):
    total[i] = models[i % 2].x[i % 3] + WEIGHTS[i]
print(total)
