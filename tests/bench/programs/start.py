"""Prints for each rank its processor time at its first iteration, in milliseconds, and what it has imported.

A rank has twenty iterations: where each has a few, another strategy is begun with.

mpiexec -n P python start_dlb.py P
"""

import sys
import time

import numpy as np

n = 20 * int(sys.argv[1])
spent_s = np.zeros(n)
loaded = [""] * n

# dlb: parallel, BLOCK(spent_s, loaded)
for i in range(n):
    spent_s[i] = time.process_time()
    loaded[i] = " ".join(sorted(sys.modules))

for first in range(0, n, 20):
    print(f"{1000 * spent_s[first]:.1f} {loaded[first]}")
