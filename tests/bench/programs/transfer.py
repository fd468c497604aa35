"""Scatter and gather of a large array, and one copy of the same bytes; prints both times."""

import sys
import time

import numpy as np


def shift(out, data):
    # dlb: parallel, BLOCK
    for i in range(len(out)):
        out[i] = data[i]


data = np.random.default_rng(1).random((64, 200_000))
out = np.zeros_like(data)
shift(out, data)
start = time.perf_counter()
shift(out, data)
print(f"seconds {time.perf_counter() - start:.6f}", file=sys.stderr)
start = time.perf_counter()
out[:] = data
print(f"copy {time.perf_counter() - start:.6f}", file=sys.stderr)
