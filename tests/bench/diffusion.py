"""Parabolic diffusion (Heirich and Taylor, Caltech CS-TR-94-13): what steps take on a million processors.

    python tests/bench/diffusion.py [--side M] [--steps N] [--json FILE]

alpha = .1, three inner iterations, M^3 processors (100 by default), a mesh with ends. Times are in seconds of
this process: of divisible work, exact on a grain; of whole units; and of a plain step on whole arrays, whose
sums round. What the method does to the loads of the paper is in `samples/papers/heirich`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

import numpy as np
from dlbrt.data.layout import Floats
from papers.heirich import Diffusion, Mesh, Schedule, UnitDiffusion

ALPHA = 0.1
TENTH = Schedule.every(ALPHA, 3)

#: Of whole units, and of the plain step, fewer are taken than of the others.
FEWER = 16


@dataclass(frozen=True)
class Timing:
    """Seconds of this process for so many steps, and a step's times those of a plain one."""

    what: str
    processors: int
    steps: int
    seconds: float
    ratio: float


def timings(side: int, steps: int) -> list[Timing]:
    """Divisible work, whole units, the plain step."""
    mesh = Mesh((side,) * 3)
    work = np.random.default_rng(1).integers(0, 2000, mesh.sides).astype(np.float64)
    divisible, whole = Diffusion(mesh, work, TENTH), UnitDiffusion(mesh, work, TENTH)
    few = max(1, steps // FEWER)
    baseline = _seconds(lambda: plain(work, few)) / few
    runs: list[tuple[str, int, Callable[[], object]]] = [
        ("plain", few, lambda: plain(work, few)),
        ("divisible", steps, lambda: divisible.advance(steps)),
        ("whole units", few, lambda: whole.advance(few)),
    ]
    found = []
    for what, count, run in runs:
        took = _seconds(run)
        found.append(Timing(what, mesh.processors, count, took, took / count / baseline))
    return found


def plain(work: Floats, steps: int) -> Floats:
    """As many steps as the formulas stand: ghosts by a copy, whole arrays, sums as they round."""
    u = work.copy()
    for _ in range(steps):
        v = u
        for _ in range(TENTH.iterations):
            v = (u + ALPHA * _around(v)) / (1 + 6 * ALPHA)
        u = u + ALPHA * (_around(v) - 6 * v)
    return u


def _around(v: Floats) -> Floats:
    found = np.zeros_like(v)
    for axis in range(v.ndim):
        ghosts = np.pad(v, [(1, 1) if each == axis else (0, 0) for each in range(v.ndim)], mode="edge")
        found += np.take(ghosts, range(v.shape[axis]), axis) + np.take(
            ghosts, range(2, v.shape[axis] + 2), axis
        )
    return found


def _seconds(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--side", type=int, default=100)
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    timed = timings(options.side, options.steps)
    for one in timed:
        print(
            f"{one.processors} processors, {one.steps:4d} steps, {one.what:12s} {one.seconds:8.2f} s, "
            f"{one.ratio:5.2f} times a plain step"
        )
    if options.json:
        options.json.write_text(json.dumps({"timings": [asdict(each) for each in timed]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
