"""Functional performance models: what partitions take.

    python tests/bench/fpm.py [--rounds N] [--json FILE]

Times of a partition are beside those of a proportional one of the same ranks, for 16 and 10 000 of them, of
functions with as many points as eight passes leave. How fast balancing converges, and figures like those of
Clarke, Lastovetsky and Rychkov, are in docs/papers.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbrt.data.layout import Floats
from dlbrt.emulation import Cliff
from dlbrt.speed.models import SpeedModels
from dlbrt.speed.points import ModelKind

LEARNING = (ModelKind.PIECEWISE, ModelKind.AKIMA)
POINTS = 8

#: Repetitions of a partition of so many ranks.
RANKS = {16: 200, 10_000: 3}


@dataclass(frozen=True)
class Solve:
    """What one partition takes, in seconds of this process, and times the proportional one."""

    ranks: int
    model: str
    seconds: float
    ratio: float


def learned(ranks: int, model: ModelKind, n: int) -> SpeedModels:
    """Functions as some passes leave them, of processors each with its cliff."""
    draw = np.random.default_rng(3)
    fit, top = draw.uniform(0.5, 2, ranks) * n / ranks, draw.uniform(1, 3, ranks)
    models = SpeedModels(ranks, model)
    for _ in range(POINTS):
        held = np.array(models.partition(n).counts, dtype=np.float64)
        models.add(held, held / top * _slowdown(held, fit))
    return models


def _slowdown(held: Floats, fit: Floats) -> Floats:
    return np.array([Cliff(units, 15).slowdown(count) for units, count in zip(fit, held, strict=True)])


def seconds(action: Callable[[], object], repeat: int, rounds: int) -> float:
    """The median over rounds of the mean of some repetitions, in time of this process."""
    action()
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(repeat):
            action()
        found.append((time.process_time() - begin) / repeat)
    return statistics.median(found)


def solves(rounds: int) -> list[Solve]:
    """What partitions take."""
    found = []
    for ranks, repeat in RANKS.items():
        n = 2750 * ranks
        constant = learned(ranks, ModelKind.CONSTANT, n)
        baseline = seconds(lambda known=constant, n=n: known.partition(n), repeat, rounds)
        for model in LEARNING:
            models = learned(ranks, model, n)
            took = seconds(lambda known=models, n=n: known.partition(n), repeat, rounds)
            found.append(Solve(ranks, model.value, took, took / baseline))
    return found


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    solved = solves(options.rounds)
    for one in solved:
        print(
            f"{one.ranks:6d} ranks {one.model:10s} {one.seconds * 1e3:9.3f} ms, "
            f"{one.ratio:6.1f} times a proportional one"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in solved], indent=2) + "\n")


if __name__ == "__main__":
    main()
