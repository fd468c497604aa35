"""A routine of passes over rows that take a given time each, for its balancing from pass to pass.

    dlbc run -n 4 --speeds 3.6@66:15,.. paced.py MODEL ROWS PASSES SECONDS

SECONDS are those of a row on the fastest rank; other ranks are slower by what is emulated, and slower still
where they hold more rows than fit. The time of each pass is printed, one a line.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def piecewise(x: Vector, passes: int, seconds: float) -> list[float]:
    """Passes with shares by functions linear between points measured."""
    ends = [time.perf_counter()]
    # dlb: iterate, model=piecewise
    for _ in range(passes):
        # dlb: parallel, BLOCK(x)
        for i in range(len(x)):
            time.sleep(seconds)
            x[i] += 1
        ends.append(time.perf_counter())
    return ends


def akima(x: Vector, passes: int, seconds: float) -> list[float]:
    """Passes with shares by Akima's splines."""
    ends = [time.perf_counter()]
    # dlb: iterate, model=akima
    for _ in range(passes):
        # dlb: parallel, BLOCK(x)
        for i in range(len(x)):
            time.sleep(seconds)
            x[i] += 1
        ends.append(time.perf_counter())
    return ends


def constant(x: Vector, passes: int, seconds: float) -> list[float]:
    """Passes with shares by the last speeds."""
    ends = [time.perf_counter()]
    # dlb: iterate, model=constant
    for _ in range(passes):
        # dlb: parallel, BLOCK(x)
        for i in range(len(x)):
            time.sleep(seconds)
            x[i] += 1
        ends.append(time.perf_counter())
    return ends


def main(model: str, n: int, passes: int, seconds: float) -> None:
    """Run the routine, and print the time of each pass."""
    routine = {"piecewise": piecewise, "akima": akima, "constant": constant}[model]
    ends = routine(np.zeros(n), passes, seconds)
    for before, after in pairwise(ends):
        print(f"{after - before:.6f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
