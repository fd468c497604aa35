"""What ranks hold of an array of which they have a share (``rows``), or all (``whole``).

Arguments: the kind, and the size in MiB. Prints for each rank its iterations, what it held before, at the
most, and in the end by its part of pages in common with others (PSS), in MiB.
"""

import os
import sys
import time

import numpy as np


def held():
    """This process, its peak and its part of the host's memory."""
    with open("/proc/self/status") as lines:
        peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    with open("/proc/self/smaps_rollup") as lines:
        part = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return os.getpid(), peak / 1024, part / 1024


def before(out):
    # dlb: parallel, BLOCK
    for i in range(len(out)):
        time.sleep(0.05)
        out[i] = held()


def rows(A, out):
    # dlb: parallel, BLOCK
    for i in range(len(A)):
        A[i, :] += 1.0
        out[i] = held()


def whole(A, out):
    # dlb: parallel, BLOCK
    for i in range(len(out)):
        A[i:].sum()
        out[i] = held()


kind, size = sys.argv[1], int(sys.argv[2])
A = np.ones((128, size * 1024))
first, last = [None] * 24, [None] * (len(A) if kind == "rows" else 24)
before(first)
(rows if kind == "rows" else whole)(A, last)
at_first = {pid: (peak, part) for pid, peak, part in first}
at_last = {pid: (peak, part) for pid, peak, part in last}
for pid, (peak, part) in at_last.items():
    if pid != os.getpid():
        iterations = sum(each[0] == pid for each in last)
        figures = iterations / len(last), at_first[pid][0], peak, at_first[pid][1], part
        print("worker", *(f"{figure:.4f}" for figure in figures), file=sys.stderr)
