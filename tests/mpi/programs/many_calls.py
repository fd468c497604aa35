"""Many calls of small and larger loops; data that changes between calls, and data that does not."""

import numpy as np

table = np.random.default_rng(3).random(2000)
out = np.zeros(64)
total = 0.0


def fill(shift):
    # dlb: parallel, BLOCK
    for i in range(64):
        out[i] = table[(i * 31 + shift) % 2000] + shift


for shift in range(40):
    fill(shift)
    total += float(out[shift])
    if shift % 10 == 9:
        table[shift] = -1.0
print(total.hex(), out.tobytes().hex())
