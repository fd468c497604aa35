"""A module beside the program, whose data the program changes."""

import numpy as np

scale = 1
weights = np.arange(12.0)


def scaled(x):
    return float(x * scale + weights[x])


table = None


def sum_of_table():
    return float(table.sum())
