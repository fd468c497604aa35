"""What the loop runs over is also read as a whole, by the body and by a function; identity of elements."""

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
