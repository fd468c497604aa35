"""What the partitioners take, each beside a baseline of the same invocation; none is a test.

    python tests/bench/partition.py [--rounds N] [--json FILE]

A Newton cut is compared with evaluating its t once at as many points (for one rank's bounds: twice).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from dlbrt.partition.integer import optimal, prefix_sums
from dlbrt.partition.newton import Cutter
from papers.swartz import sieve
from papers.swartz.density import compress
from papers.swartz.newton import bounds, cuts

PROCESSORS = 10**6


def seconds(action: Callable[[], object], repeat: int) -> float:
    """The mean of so many repetitions."""
    begin = time.perf_counter()
    for _ in range(repeat):
        action()
    return (time.perf_counter() - begin) / repeat


def measures() -> dict[str, tuple[Callable[[], object], Callable[[], object], int]]:
    """name -> what is measured, its baseline, repetitions."""
    work = sieve.work(2.0**28)
    cutter, unknown_slope = Cutter(work), Cutter(sieve.work(2.0**28, derivative=False))
    many, one = np.linspace(10, 2.0**28, PROCESSORS), np.float64(1e7)
    density = np.random.default_rng(1).random(10**6)
    prefix = prefix_sums(density)
    everywhere, twice = (lambda: sieve.t(many)), (lambda: (sieve.t(one), sieve.t(one)))
    return {
        "newton, 10^6 processors": (lambda: cuts(cutter, PROCESSORS), everywhere, 1),
        "newton, 10^6, no derivative": (lambda: cuts(unknown_slope, PROCESSORS), everywhere, 1),
        "newton, one rank's bounds of 16": (lambda: bounds(cutter, 7, 16), twice, 1000),
        "newton, one rank's, no derivative": (lambda: bounds(unknown_slope, 7, 16), twice, 1000),
        "newton, preparing": (lambda: Cutter(work), twice, 100),
        "optimal cut of 10^6 for 16": (lambda: optimal(prefix, 16), lambda: prefix_sums(density), 3),
        "density of 10^6 by 5, cut for 16": (
            lambda: compress(density, 5).cut(16),
            lambda: prefix_sums(density),
            3,
        ),
    }


def main() -> None:
    """Measure everything, print a line each, and write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {}
    for name, (action, baseline, repeat) in measures().items():
        action(), baseline()
        pairs = [(seconds(action, repeat), seconds(baseline, repeat)) for _ in range(options.rounds)]
        ratio, took = (statistics.median(x) for x in ((a / b for a, b in pairs), (a for a, _ in pairs)))
        figures[name] = {"median": ratio, "seconds": took, "least_seconds": min(a for a, _ in pairs)}
        print(f"{name:34s} {took * 1e6:12.1f} us, {ratio:8.2f} times the baseline", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
