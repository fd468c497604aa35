"""A loop runs again and again, now with arrays and numbers, now with what has to be pickled anew."""

import numpy as np


def scaled(x, c):
    out = np.zeros(len(x))
    # dlb: parallel
    for i in range(len(x)):
        out[i] = x[i] * c
    return out.tolist()


def multiplied(x, y, out):
    # dlb: parallel
    for i in range(len(x)):
        out[i] = x[i] * y[i]
    return out.sum()


ones, b, out = np.ones(7), np.arange(9), np.zeros(9)
for x, c in ((ones, 1), ([1.0] * 7, 2), (ones, 2), (ones, 2), (list(range(7)), 2), (ones, 2), (ones, 1)):
    print(scaled(x, c))
of_floats, of_objects, others = b * 1.0, b.astype(object), b * 1.0
for x, y in (
    (of_floats, others),
    (of_objects, others),
    (of_objects, b + 0),
    (of_floats, others),
    (b, others),
):
    print(multiplied(x, y, out))
