"""N iterations that compute K steps (60 ns each) and wait S seconds; the loop's time on standard error.

Waiting, many ranks fit on few cores; what an iteration costs is then not lengthened by the others.
"""

import sys
import time

import numpy as np


def run(n, steps, wait_s):
    out = np.zeros(n)
    start = time.perf_counter()
    # dlb: parallel, BLOCK
    for i in range(n):
        x = i
        for _ in range(steps):
            x = x * 3 & 1023
        if wait_s:
            time.sleep(wait_s)
        out[i] = x
    print(f"seconds {time.perf_counter() - start:.6f}", file=sys.stderr)
    return out


print(run(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])).sum())
