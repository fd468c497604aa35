"""Heat in a plate whose rows do not fit into the memory of every host; tells of each pass what it took.

    python tests/bench/programs/paging.py ROWS COLUMNS PASSES

On standard error, of each pass: its seconds, then how many rows each host has done, by the number in its
name.
"""

import socket
import sys
import time

import numpy as np

rows, columns, passes = map(int, sys.argv[1:4])


def host():
    """The number of this host: of `host2` it is 2."""
    digits = "".join(filter(str.isdigit, socket.gethostname()))
    return int(digits or 0)


u = np.zeros((rows, columns))
u[0] = 1.0
v = u.copy()
doer = np.zeros(rows, dtype=np.int64)
begun = time.perf_counter()
# dlb: iterate, model=piecewise
for step in range(passes):
    # dlb: parallel
    for i in range(1, rows - 1):
        around = u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:]
        v[i, 1:-1] = 0.25 * around
        doer[i] = host()
    u, v = v, u
    ended = time.perf_counter()
    print("pass", ended - begun, *np.bincount(doer[1:-1], minlength=3), file=sys.stderr)
    begun = time.perf_counter()
print(u.sum(), (u * u).sum())
