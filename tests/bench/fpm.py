"""Functional performance models: what partitions take, how balancing converges, and the paper's figures.

    python tests/bench/fpm.py [--rounds N] [--plot DIRECTORY] [--json FILE]

Times of a partition are beside those of a proportional one of the same ranks, for 16 and 10 000 of them, of
functions with as many points as eight passes leave. Convergence is that of Clarke, Lastovetsky and Rychkov on
machines like theirs (tests/dlbrt/speed/clusters.py): passes until the imbalance is at most 0.1 (-: not
within 20), passes until the makespan is within 10 % of the optimum, the largest data moved at a pass. The
sweep is their figure 13: how much faster 100 passes are than with equal shares, movement over 1 Gbit/s
counted, by the traditional loop, which moves whatever that costs, and by the balancer. ``--plot`` draws
figures like 5, 9, 12 and 13 (needs matplotlib: the extra ``plot``).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from dlbrt.data.layout import Floats
from dlbrt.emulation import Cliff
from dlbrt.speed.models import SpeedModels
from dlbrt.speed.pass_balancer import PassBalancer, imbalance
from dlbrt.speed.points import ModelKind
from papers.clarke.figure import Figure, figure

from tests.dlbrt.speed.clusters import DOUBLE, MB, Machine, cluster, passes

LEARNING = (ModelKind.PIECEWISE, ModelKind.AKIMA)
POINTS = 8

#: Repetitions of a partition of so many ranks.
RANKS = {16: 200, 10_000: 3}

#: Figure 13: sizes, processors, passes; bytes a second that the first processor reads, that a link carries.
SIZES = range(2000, 26001, 1000)
PROCESSORS = 16
SWEPT = 100
READ = 2e9
BANDWIDTH = 1.25e8
TOLERANCE = 0.05


@dataclass(frozen=True)
class Solve:
    """What one partition takes, in seconds of this process, and times the proportional one."""

    ranks: int
    model: str
    method: str
    seconds: float
    ratio: float


@dataclass(frozen=True)
class Convergence:
    """One run of the paper's loop: 0 passes stand for more than were waited for."""

    model: str
    n: int
    cluster: int
    width: float
    passes: int
    near_optimum: int
    moved_mb: float


@dataclass(frozen=True)
class Speedup:
    """How many times faster than with equal shares: the traditional loop, and the balancer by model."""

    n: int
    traditional: float
    constant: float
    piecewise: float
    akima: float


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
            found.append(Solve(ranks, model.value, models.partition(n).method.name, took, took / baseline))
    return found


def convergence() -> list[Convergence]:
    """The paper's table of claims, and narrower cliffs."""
    cases = [
        (model, n, number, 0.15) for model in ModelKind for n in (8000, 11000, 12000) for number in (1, 2)
    ]
    cases += [
        (model, n, 2, width) for model in LEARNING for n in (11000, 12000) for width in (0.08, 0.04, 0.02)
    ]
    return [_converged(*case) for case in cases]


def _converged(model: ModelKind, n: int, number: int, width: float) -> Convergence:
    machine = cluster(number, n, width)
    found, optimum = passes(machine, model, n), machine.optimum(n)
    near = [k for k, each in enumerate(found, 1) if each.makespan <= 1.1 * optimum]
    moved = [
        sum(abs(a - b) for a, b in zip(one.counts, other.counts, strict=True)) / 2
        for one, other in pairwise(found)
    ]
    balanced = len(found) if found[-1].imbalance <= 0.1 else 0
    most = DOUBLE * n * max(moved, default=0) / MB
    return Convergence(model.value, n, number, width, balanced, near[0] if near else 0, most)


def processors(n: int) -> Machine:
    """Sixteen uneven processors: four times those of cluster 2, which pass through their rows in memory."""
    four = cluster(2, n)
    rows_s = READ / (DOUBLE * n) / four.speeds[0]
    return Machine(tuple(speed * rows_s for speed in four.speeds * 4), four.cliffs * 4)


def sweep() -> list[Speedup]:
    """Figure 13."""
    return [Speedup(n, _speedup(n, None), *(_speedup(n, model) for model in ModelKind)) for n in SIZES]


def _speedup(n: int, model: ModelKind | None) -> float:
    """Over as many passes with equal shares; None: of the traditional loop, which moves whatever it costs."""
    machine = processors(n)
    balancer, constant = (
        PassBalancer(PROCESSORS, model or ModelKind.CONSTANT),
        SpeedModels(PROCESSORS, ModelKind.CONSTANT),
    )
    counts = balancer.first(n)
    equal_s, taken_s = SWEPT * max(machine.seconds(counts)), 0.0
    for _ in range(SWEPT):
        times = machine.seconds(counts)
        if model is None:
            constant.add(counts, times)
            then = constant.partition(n).counts if imbalance(times) > TOLERANCE else counts
        else:
            then = balancer.after(counts, times, movement_s=partial(_movement_s, n, counts)).counts
        taken_s += max(times) + _movement_s(n, counts, then)
        counts = then
    return equal_s / taken_s


def _movement_s(n: int, now: Sequence[int], then: Sequence[int]) -> float:
    """As long as the rank takes that has most to send or to receive."""
    return max(abs(a - b) for a, b in zip(now, then, strict=True)) * DOUBLE * n / BANDWIDTH


def figures() -> dict[str, Figure]:
    """Figures 5, 9 and 12: name -> speed against size after the paper's loop."""
    cases = {
        "5": (ModelKind.CONSTANT, 11000, 5),
        "9": (ModelKind.PIECEWISE, 11000, 20),
        "12": (ModelKind.AKIMA, 12000, 20),
    }
    found = {}
    for name, (model, n, most) in cases.items():
        models = SpeedModels(4, model)
        last = passes(cluster(2, n), model, n, most)
        for each in last:
            models.add(each.counts, cluster(2, n).seconds(each.counts))
        drawn = figure(models, n, last[-1].counts)
        assert drawn is not None
        found[name] = drawn
    return found


def draw(directory: Path, swept: Sequence[Speedup]) -> None:
    """The figures as PNG files."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    for name, drawn in figures().items():
        axes = plt.figure(figsize=(7, 5)).gca()
        _speed_against_size(axes, drawn, cluster(2, drawn.n))
        axes.set_title(f"after figure {name} (n = {drawn.n})")
        axes.figure.savefig(directory / f"figure-{name}.png", dpi=120)
        plt.close(axes.figure)
    axes = plt.figure(figsize=(7, 5)).gca()
    for name in ("traditional", *(model.value for model in ModelKind)):
        axes.plot([each.n for each in swept], [getattr(each, name) for each in swept], label=name)
    axes.axhline(1, color="0.7", lw=0.8)
    axes.set(xlabel="n", ylabel="speedup over equal shares", title="after figure 13, 16 processors")
    axes.legend()
    axes.figure.savefig(directory / "figure-13.png", dpi=120)
    plt.close(axes.figure)


def _speed_against_size(axes: Any, drawn: Figure, machine: Machine) -> None:
    """Points, functions (what is true dotted), shares, and the line through the origin."""
    for rank, curve in enumerate(drawn.curves):
        colour = f"C{rank}"
        true = [machine.speed([int(x)] * len(machine.speeds))[rank] for x in curve.units]
        axes.plot(curve.units, true, ":", color=colour, lw=0.9)
        axes.plot(curve.units, curve.speeds, color=colour, label=f"P{rank + 1}")
        axes.plot(curve.points.units, curve.points.speeds, "x", color=colour)
        axes.plot([curve.share], [curve.share_speed], "o", color=colour)
    top = max(max(curve.speeds) for curve in drawn.curves)
    axes.plot([0, top * drawn.seconds], [0, top], "k--", lw=0.8)
    axes.set(xlabel="rows", ylabel="speed", xlim=(0, max(drawn.curves[0].units)), ylim=(0, 1.1 * top))
    axes.legend()


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plot", type=Path, metavar="DIRECTORY")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    solved, converged, swept = solves(options.rounds), convergence(), sweep()
    for one in solved:
        print(
            f"{one.ranks:6d} ranks {one.model:10s} {one.seconds * 1e3:9.3f} ms, "
            f"{one.ratio:6.1f} times a proportional one ({one.method})"
        )
    print("model          n  cluster  width  passes  within 10 %  moved MB")
    for run in converged:
        print(
            f"{run.model:10s} {run.n:5d} {run.cluster:8d} {run.width:6.2f} {run.passes or '-':>7} "
            f"{run.near_optimum or '-':>12} {run.moved_mb:9.1f}"
        )
    print("speedup over equal shares:    n  traditional  constant  piecewise  akima")
    for at in swept:
        models = f"{at.constant:9.2f} {at.piecewise:10.2f} {at.akima:6.2f}"
        print(f"{at.n:31d} {at.traditional:12.2f} {models}")
    if options.plot:
        options.plot.mkdir(parents=True, exist_ok=True)
        draw(options.plot, swept)
    if options.json:
        measured = {"solves": solved, "convergence": converged, "sweep": swept}
        told = {name: [asdict(each) for each in rows] for name, rows in measured.items()}
        options.json.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
