"""What cached functions give: one object for several iterations, and members of enumerations."""

import enum
import functools

import numpy as np

n = 12


class Planet(enum.Enum):
    EARTH = (6.0, 6.4)
    MARS = (0.6, 3.4)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius


@functools.cache
def cell(k):
    return [k]


@functools.lru_cache(maxsize=8)
def powers(k):
    return np.arange(4.0) ** k


@functools.cache
def steps(k):
    return k if k < 2 else steps(k - 1) + steps(k - 2)


rows = [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    rows[i] = cell(i % 3)
rows[0].append("seen")
print(rows)

found = []
# dlb: parallel, BLOCK
for i in range(n):
    found.append(powers(i % 2))
print(len({id(each) for each in found}))

out, total = np.zeros(n), 0
# dlb: parallel, BLOCK
for i in range(n):
    count = steps(i)
    count += 1
    total += count
    out[i] = powers(i % 3).sum() * count
print(out.tolist(), total)

mass = [0.0] * n
planets = list(Planet)
# dlb: parallel, BLOCK
for i in range(n):
    mass[i] = planets[i % 2].mass * i + Planet.MARS.radius
print(mass)
