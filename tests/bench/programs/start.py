"""Prints for each rank its processor time at its first iteration, in milliseconds, and what it has imported.

mpiexec -n P python start_dlb.py P
"""

import sys
import time

import numpy as np

ranks = int(sys.argv[1])
spent_s = np.zeros(ranks)
loaded = [""] * ranks

# dlb: parallel, BLOCK(spent_s, loaded)
for i in range(ranks):
    spent_s[i] = time.process_time()
    loaded[i] = " ".join(sorted(sys.modules))

for rank in range(ranks):
    print(f"{1000 * spent_s[rank]:.1f} {loaded[rank]}")
