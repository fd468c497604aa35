"""Lets an iteration take a given time: by waiting, so that many ranks fit on few cores, or by computing.

A sleep ends late, by some 60 us or, on busy cores, by more. What was slept too long or not yet is carried
to this process's next iteration, so errors do not add up; time outside iterations is not made up for.
With ``PACING_STEPS`` in the environment a second is that many steps of computing, whatever they take.
"""

import os
import sys
import time

clock = time.perf_counter

#: Shorter waits are put together.
SHORTEST_S = 5e-4

STEPS_A_SECOND = float(os.environ.get("PACING_STEPS", "0"))

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
    """End the iteration that `began` then, after so many `seconds` or their steps."""
    if STEPS_A_SECOND:
        steps = _owed[0] + seconds * STEPS_A_SECOND
        _owed[0] = steps - int(steps)
        compute(int(steps))
        return
    owed = _owed[0] + seconds - (clock() - began)
    if owed > SHORTEST_S:
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
