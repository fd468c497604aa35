"""Lets an iteration take a given time: by waiting, so that many ranks fit on few cores, or by computing.

A sleep ends late, by some 60 us or, on busy cores, by more. What was slept too long or not yet is carried
to this process's next iteration, so errors do not add up; time outside iterations is not made up for.
That state is each rank's own, against what the plan takes for granted: such programs run with `--trust`.
With ``PACING_CORES`` in the environment an iteration computes, for so long as its seconds are on a host of
that many cores without load: in processor time, since a processor may itself be faster or slower from one
second to the next.
"""

import os
import sys
import time

#: Of this process's computing where iterations compute.
CORES = float(os.environ.get("PACING_CORES", "0"))

clock = time.thread_time if CORES else time.perf_counter

#: Shorter waits are put together.
SHORTEST_S = 5e-4

#: Computed between two looks at the clock: some ten microseconds.
STEPS = 200

#: In a lab with real load, a line written there begins it anew, as emulated load begins with each loop.
LOAD = os.environ.get("LAB_START")

_owed = [0.0]


def arguments():
    """The program's sizes and its times in seconds: two lists, as in `program.py 400,800 0.01`."""
    sizes, seconds = sys.argv[1:3]
    return [int(item) for item in sizes.split(",")], [float(item) for item in seconds.split(",")]


def begin_load():
    """A loop begins."""
    if LOAD:
        with open(LOAD, "w") as pipe:
            pipe.write("\n")


def spend(began, seconds):
    """End the iteration that `began` then, after so many `seconds`."""
    owed = _owed[0] + seconds * (CORES or 1.0) - (clock() - began)
    if CORES:
        ends = clock() + owed
        while clock() < ends:
            compute(STEPS)
        owed = ends - clock()
    elif owed > SHORTEST_S:
        slept = clock()
        time.sleep(owed)
        owed -= clock() - slept
    _owed[0] = owed


def compute(steps):
    """A fixed amount of computing."""
    x = 1
    for _ in range(steps):
        x = x * 3 & 1023
    return x
