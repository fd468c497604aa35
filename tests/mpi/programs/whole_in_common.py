"""Large arrays that every rank holds whole: in several orders, unwritable, changed between loops, parts."""

import numpy as np


def total(data, out):
    # dlb: parallel, BLOCK
    for i in range(len(out)):
        out[i] = data[i % len(data)].sum() + data[(7 * i) % len(data)].min() + data.strides[0]


def both(first, second, out):
    # dlb: parallel, CYCLIC
    for i in range(len(out)):
        out[i] = (first[i % len(first)] * second[(3 * i) % len(second)]).sum()


random = np.random.default_rng(5)
data = random.random((800, 800))
cube = random.random((90, 80, 100))
out = np.zeros(23)
for each in (data, np.asfortranarray(data), cube.transpose(1, 0, 2), data[::-1], data[:, :780]):
    total(each, out)
    print(out.tobytes().hex())
fixed = data.copy()
fixed.flags.writeable = False
both(data, fixed, out)
print(out.tobytes().hex())
data[3] += 1.0
both(data, fixed, out)
print(out.tobytes().hex())
both(fixed, data, out)
print(out.tobytes().hex(), fixed.flags.writeable)
