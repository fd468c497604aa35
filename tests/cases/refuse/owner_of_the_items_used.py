# expect: DLB306 20:22
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]


class World:
    def __init__(self):
        self.items = [[1] for _ in range(n)]

    def total(self):
        return sum(len(item) for item in self.items)

    def step(self):
        # dlb: parallel
        for x in self.items:
            x.append(self.total())


World().step()
