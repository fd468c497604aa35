"""As grain.py, but each iteration makes a call that the compiler has not seen, so the loop is watched."""

import operator
import sys
import time

import numpy as np


def run(n, steps, weights, settings):
    out = np.zeros(n)
    start = time.perf_counter()
    # dlb: parallel, BLOCK
    for i in range(n):
        x = i
        for _ in range(steps):
            x = x * 3 & 1023
        out[i] = operator.index(x) * weights[i] * settings["scale"]
    print(f"seconds {time.perf_counter() - start:.6f}", file=sys.stderr)
    return out


size, depth = int(sys.argv[1]), int(sys.argv[2])
for _ in range(3):  # the first runs also begin with watched iterations; the last one's time counts
    total = run(
        size, depth, np.arange(1.0 * size), {"scale": 0.5, "names": [f"n{k}" for k in range(100)]}
    ).sum()
print(total)
