"""What the loop runs over is also read as a whole, by the body and by a function; identity of elements."""

import itertools

import numpy as np


class Body:
    def __init__(self, at):
        self.at = at


def pull(body, others):
    return sum(1.0 / (other.at - body.at) for other in others if other is not body)


bodies = [Body(k * 1.5) for k in range(21)]
forces = [None] * len(bodies)
# dlb: parallel
for i, body in enumerate(bodies):
    forces[i] = pull(body, bodies)
print(forces)

table = np.arange(30.0).reshape(10, 3)
means = np.zeros(10)


def distance(row, rows):
    return float(abs(rows - row).sum())


# dlb: parallel
for i, row in enumerate(table):
    means[i] = row[0] - table.mean() + distance(row, table)
print(means.tolist())
# dlb: parallel, CYCLIC
for i in range(10):
    means[i] = table[i, 0] - distance(table[i], table)
print(means.tolist())

left = [[k] for k in range(12)]
right = [[-k] for k in range(12)]
first, second = left[0], right[0]
# dlb: parallel
for i in range(12):
    left[i], right[i] = right[i], left[i]
print(left, right, left[0] is second, right[0] is first)
# dlb: parallel
for i in range(12):
    left[i] += [i]
print(left, left[0] is second)


def draw(source, n):
    out = [0] * n
    # dlb: parallel
    for i in range(n):
        out[i] = sum(x for x, _ in zip(source, range(2)))
    return out


print(draw(itertools.count(), 6), draw(iter(range(100)), 6))
