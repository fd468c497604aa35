"""1000 calls of a loop of ten tiny iterations; prints the time of a call on standard error."""

import sys
import time

import numpy as np


def call(out, step):
    # dlb: parallel, BLOCK
    for i in range(10):
        out[i] = out[i] + step


out = np.zeros(10)
call(out, 0)
start = time.perf_counter()
for step in range(1000):
    call(out, step)
print(f"seconds {(time.perf_counter() - start) / 1000:.9f}", file=sys.stderr)
print(out.sum())
