"""`auto` over a grid of machines and loops, against all strategies, in virtual time.

    python tests/bench/strategies_grid.py [--points N] [--first K] [--json FILE] [--known FILE]

A point draws 2 to 64 ranks, iterations of 1 us to 1 s, no rows or rows up to 1 MB, messages of 1 us to 100 ms
at 1 MB/s to 10 GB/s, no load, a fixed one or one that changes every 0.2 to 20 s, equal or uneven processors,
and equal or triangular work, known or not. A strategy's time is counted to when rank 0 can know that all is
done: one message after the last iteration on another rank. All strategies, `none` and `auto` meet the same
loads. Printed are `auto` over the best strategy of each point in hindsight, over the best of those that
`auto` can take, and over `none`; and the worst ten points by name. ``--known`` takes the times of all
strategies but `auto` from a file that ``--json`` wrote. None is a test.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbrt.balance.setup import begins_with
from dlbrt.balance.strategies import AUTO, STATIC, names, pooled
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.spans import Spans, coverage_error
from dlbrt.data.work_table import WorkTable
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import blocks
from dlbrt.sim.compare import clairvoyant_s
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine

FORCED = names()

#: The seed of the points: any number will do.
SEED = 19

#: Iterations of a rank, at most; of all ranks where each has a time of its own.
MOST_EACH, MOST_UNEVEN = 1_000_000, 40_000

#: Edges of the table by which work is known.
EDGES = 1024


def _logarithmic(random: Random, least: float, most: float) -> float:
    """A number drawn evenly by its logarithm, to three digits."""
    return float(f"{least * (most / least) ** random.random():.3g}")


@dataclass(frozen=True, slots=True)
class Point:
    """A machine and a loop; times in seconds. ``load``: none, fixed or random.

    ``work``: equal, or triangular and ``cut`` (first shares are cut by the work, as the compiler has it),
    ``known`` (first shares are equal blocks, the work is known) or ``unknown``.
    """

    ranks: int
    each: int
    iteration_s: float
    row_bytes: float
    latency_s: float
    bandwidth: float
    load: str
    duration_s: float
    uneven: bool
    work: str
    seed: int

    @classmethod
    def drawn(cls, number: int) -> Point:
        """The point of that number."""
        random = Random(SEED * 1_000_003 + number)
        ranks = random.choice((2, 4, 8, 16, 32, 64))
        iteration_s = _logarithmic(random, 1e-6, 1.0)
        lasts_s = _logarithmic(random, 0.05, min(20.0, 160.0 / ranks))
        work = random.choice(("equal", "equal", "equal", "cut", "known", "unknown"))
        most = MOST_EACH if work == "equal" else min(MOST_EACH, MOST_UNEVEN // ranks)
        return cls(
            ranks,
            max(4, min(most, round(lasts_s / iteration_s))),
            iteration_s,
            0.0 if random.random() < 0.35 else _logarithmic(random, 8, 1e6),
            _logarithmic(random, 1e-6, 0.1),
            _logarithmic(random, 1e6, 1e10),
            random.choice(("none", "fixed", "random", "random")),
            _logarithmic(random, 0.2, 20.0),
            random.random() < 0.4,
            work,
            number,
        )

    def __str__(self) -> str:
        load = f"random:{self.duration_s:g}s" if self.load == "random" else self.load
        return (
            f"{self.seed}: P={self.ranks} {self.each}x{self.iteration_s:g}s rows={self.row_bytes:g}B "
            f"{self.latency_s:g}s {self.bandwidth:g}B/s load={load}"
            f"{' uneven' if self.uneven else ''} work={self.work}"
        )

    def machine(self) -> Machine:
        """The ranks, in two groups."""
        random = Random(self.seed)
        speeds = tuple(
            random.choice((1.0, 0.8, 0.5, 0.25)) if self.uneven else 1.0 for _ in range(self.ranks)
        )
        load = LoadSpec()
        if self.load == "fixed":
            load = LoadSpec(levels=tuple(random.choice((0, 0, 1, 3)) for _ in range(self.ranks)))
        elif self.load == "random":
            load = LoadSpec(random=RandomLoad(5, self.duration_s, self.seed * 1000))
        network = NetworkDescription(self.latency_s, self.bandwidth).among(self.ranks)
        return Machine(speeds, network, load, blocks(self.ranks, max(1, self.ranks // 2)))

    def loop(self) -> LoopModel:
        """The loop; mean iterations take ``iteration_s``."""
        n = self.ranks * self.each
        if self.work == "equal":
            return LoopModel(n, self.iteration_s, iteration_bytes=self.row_bytes)
        seconds = tuple(self.iteration_s * (2 * place + 1) / n for place in range(n))
        if self.work == "unknown":
            return LoopModel(n, seconds, iteration_bytes=self.row_bytes)
        edges = tuple(sorted({n * edge // EDGES for edge in range(EDGES + 1)}))
        work_table = WorkTable(edges, tuple(edge * edge for edge in edges))
        shares = self._cut(work_table) if self.work == "cut" else ()
        return LoopModel(n, seconds, work_table=work_table, iteration_bytes=self.row_bytes, shares=shares)

    def _cut(self, work_table: WorkTable) -> tuple[Spans, ...]:
        """Shares of equal work."""
        rest, shares = Spans.of(range(self.ranks * self.each)), []
        for left in range(self.ranks, 1, -1):
            share, rest = work_table.first(rest, work_table.of(rest) // left)
            shares.append(share)
        return (*shares, rest)


def takes(machine: Machine, loop: LoopModel, name: str) -> tuple[float, str, Mapping[str, float]]:
    """The makespan under a strategy, the one in force at the end, and what `auto` predicted."""
    parameters = Parameters(byte_s=1 / machine.network.bandwidth)
    initial, chooser = begins_with(name, machine.network, machine.groups)
    found = simulate(machine, loop, initial, parameters, chooser, known=LoopStatistics(), traced=False)
    if error := coverage_error(len(loop.units), list(found.done)):
        raise RuntimeError(f"{name}: {error}")
    choice = None if chooser is None else chooser.choice
    # Groups of one rank end with no message; `compute_s` is then when they have ended.
    known_s = max(found.compute_s[1:]) + machine.network.latency_s
    return max(found.makespan_s, known_s), found.strategy, {} if choice is None else dict(choice.predicted_s)


@dataclass(frozen=True, slots=True)
class Played:
    """A point: seconds by strategy, `AUTO` among them, what `auto` took, and what it predicted."""

    point: Point
    seconds: dict[str, float]
    clairvoyant_s: float
    choice: str
    predicted_s: dict[str, float]

    def over(self, rivals: Iterable[str]) -> float:
        """`auto` over the best of these."""
        return self.seconds[AUTO] / min(self.seconds[name] for name in rivals)

    @property
    def best(self) -> str:
        """The best strategy in hindsight."""
        return min(FORCED, key=self.seconds.__getitem__)

    def line(self) -> str:
        """The point by name, with what it is about."""
        predicted_s = self.predicted_s.get(self.choice)
        foretold = "" if predicted_s is None else f", predicted {predicted_s:.4g}"
        return (
            f"{self.over(FORCED):6.3f} of {self.best} {self.seconds[self.best]:.4g} s, "
            f"none {self.seconds[STATIC]:.4g}, optimum {self.clairvoyant_s:.4g}, "
            f"auto ({self.choice}) {self.seconds[AUTO]:.4g}{foretold} | {self.point}"
        )


def play(number: int, known: Mapping[int, Mapping[str, float]]) -> Played:
    """Every strategy at a point; those in ``known`` are not simulated again."""
    point = Point.drawn(number)
    machine, loop = point.machine(), point.loop()
    seconds = {name: s for name, s in known.get(number, {}).items() if name != AUTO}
    for name in FORCED:
        if name not in seconds:
            seconds[name] = takes(machine, loop, name)[0]
    seconds[AUTO], choice, predicted_s = takes(machine, loop, AUTO)
    return Played(point, seconds, clairvoyant_s(machine, loop), choice, dict(predicted_s))


#: What `auto` can take: no strategy that begins with a pool, and no baseline.
OPEN = tuple(
    name for name in FORCED if pooled(name) is None and name not in ("affinity", "gradient", "periodic")
)


def at(ordered: Sequence[float], part: float) -> float:
    """The value that this part of the values is not above."""
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def figures(name: str, found: Iterable[float]) -> str:
    """Mean, 99th percentile and largest."""
    ordered = sorted(found)
    return (
        f"{name}: mean {mean(ordered):.4f}, 95th percentile {at(ordered, 0.95):.4f}, "
        f"99th {at(ordered, 0.99):.4f}, most {ordered[-1]:.4f}"
    )


def summary(found: Sequence[Played], worst: int = 10) -> str:
    """Over all points, and the worst of them."""
    lines = [
        f"{len(found)} points",
        figures("auto over the best of all", (each.over(FORCED) for each in found)),
        figures("auto over the best that it can take", (each.over(OPEN) for each in found)),
        figures("auto over none", (each.over((STATIC,)) for each in found)),
        f"auto took: {Counter(each.choice for each in found).most_common()}",
        f"best: {Counter(each.best for each in found).most_common()}",
        *(
            figures(f"always {name}", (each.seconds[name] / each.seconds[each.best] for each in found))
            for name in OPEN
        ),
        f"the worst {worst} against the best:",
        *(each.line() for each in sorted(found, key=lambda each: -each.over(FORCED))[:worst]),
        f"the worst {worst} against none:",
        *(each.line() for each in sorted(found, key=lambda each: -each.over((STATIC,)))[:worst]),
    ]
    return "\n".join(lines)


def main() -> None:
    """Play the points and print the summary; write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--known", type=Path)
    options = parser.parse_args()
    known: dict[int, dict[str, float]] = {}
    if options.known:
        stored = json.loads(options.known.read_text())
        known = {each["point"]["seed"]: each["seconds"] for each in stored}
    numbers = range(options.first, options.first + options.points)
    with ProcessPoolExecutor(options.processes) as pool:
        found = list(pool.map(partial(play, known=known), numbers, chunksize=1))
    print(summary(found))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
