# Attributes of an object, one stored to and one read.
import numpy as np


class Rod:
    def __init__(self, n):
        self.n = n
        self.u = np.arange(float(n)) ** 2
        self.v = np.zeros(n)

    def step(self):
        # dlb: parallel
        for i in range(1, self.n - 1):
            self.v[i] = 0.5 * (self.u[i - 1] + self.u[i + 1])


rod = Rod(14)
rod.step()
print(rod.v.tolist())
