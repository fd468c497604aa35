import numpy as np

from .physics import step


class Ensemble:
    weights = np.ones(50)
    # dlb: parallel, BLOCK
    for k in range(50):
        weights[k] = 1.0 / (1 + k)

    def __init__(self, bodies):
        self.x = np.array([b.position[0] for b in bodies])
        self.v = np.array([b.mass for b in bodies])
        self.count = 0
        self.history = []

    def advance(self, steps):
        for _ in range(steps):
            # dlb: parallel, BLOCK
            for i in range(len(self.x)):
                self.x[i] = step(self.x[i], self.v[i])
            self.history.append(float(self.x[0]))

    def energy(self):
        # dlb: parallel
        for i in range(len(self.x)):
            self.count += 1
        total = 0.0
        # dlb: parallel, reduction(total)
        for i in range(len(self.x)):
            total += 0.5 * self.v[i] ** 2 + self.x[i] * self.weights[i]
        return total
