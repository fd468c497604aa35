import numpy as np


class Particle:
    def __init__(self, x):
        self.x, self.v = x, 1.0

    def move(self, dt):
        self.x += self.v * dt


class World:
    def __init__(self, n):
        self.particles, self.__hidden = [Particle(k) for k in range(n)], [[k] for k in range(n)]

    def step(self, dt):
        # dlb: parallel
        for p in self.particles:
            p.move(dt)
        # dlb: parallel, CYCLIC
        for h in self.__hidden:
            h.append(dt)
        # dlb: parallel
        for i in range(len(self.particles)):
            self.particles[i].v += i


def normalised(A, B, table):
    # dlb: parallel
    for row in A:
        row /= row.sum()
    # dlb: parallel
    for a, b in zip(A, B):
        b[:] = a
    # dlb: parallel
    for i, x in enumerate(A):
        A[i] = x * i
    # dlb: parallel
    for key, (values, count) in table.items():
        values.append(key)
        count["n"] += 1
    return A, B, table


world = World(5)
world.step(0.5)
print([p.x for p in world.particles])
A, B, table = normalised(np.ones((4, 3)), np.zeros((4, 3)), {k: ([k], {"n": k}) for k in range(5)})
print(A, B, table)
