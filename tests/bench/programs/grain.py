"""N iterations of about K inner steps (60 ns each); prints the loop's time on standard error."""

import sys
import time

import numpy as np


def run(n, steps):
    out = np.zeros(n)
    start = time.perf_counter()
    # dlb: parallel, BLOCK
    for i in range(n):
        x = i
        for _ in range(steps):
            x = x * 3 & 1023
        out[i] = x
    print(f"seconds {time.perf_counter() - start:.6f}", file=sys.stderr)
    return out


print(run(int(sys.argv[1]), int(sys.argv[2])).sum())
