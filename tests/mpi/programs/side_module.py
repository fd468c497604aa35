"""A module beside the program, whose data the program changes."""

import numpy as np

scale = 1
weights = np.arange(12.0)


def scaled(x):
    return float(x * scale + weights[x])


table = None


def sum_of_table():
    return float(table.sum())


ticks = 0


def tick():
    global ticks
    ticks += 1
    return ticks


def change_at(seen, at, i):
    if i == at:
        seen[0] += 1
    return i * 0.5 + seen[0]
