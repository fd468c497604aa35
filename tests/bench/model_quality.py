"""How near the cost model's predictions are to what the simulator plays, for every strategy of peers.

    python tests/bench/model_quality.py [--ranks P ...] [--strategy NAME ...] [--json FILE]

A grid: ranks, times of an iteration, even and triangular work, no load, random load and half of the ranks
four times slower, messages of 50 us and 1 ms, iterations with rows and without. The model knows the load that
comes, so what differs is the model alone. Two figures a strategy, over what was simulated: the
played prediction, of those that are played, and the estimate by which strategies are screened. None is a
test.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, product
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from dlbrt.balance.strategies import strategy
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.chunks.table import RULES
from dlbrt.data.layout import block
from dlbrt.data.work_table import WorkTable
from dlbrt.emulation import Load, LoadSpec, RandomLoad
from dlbrt.parameters import Parameters
from dlbrt.predict.choose import Candidate, Estimated
from dlbrt.predict.diffusing import DiffusionModel
from dlbrt.predict.effective_speed import LoadForecast, Processor
from dlbrt.predict.inputs import EstimateInputs, ModelInputs
from dlbrt.predict.network import Network, Pattern
from dlbrt.predict.self_scheduling import SelfSchedulingModel
from dlbrt.predict.stealing import StealingModel
from dlbrt.predict.work import IterationCosts, lower_bound_s
from dlbrt.sim.driver import simulate, start_in
from dlbrt.sim.machine import LoopModel, Machine
from papers.zaki.speed import under

#: Iterations a rank.
EACH = 250

NAMES = (*RULES, "steal", "diffusion")


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of the grid."""

    ranks: int
    mean_s: float
    triangular: bool
    load: str
    latency_s: float
    row_bytes: float

    @property
    def speeds(self) -> tuple[float, ...]:
        """Every second rank four times slower, or all alike."""
        return tuple(0.25 if self.load == "slow" and rank % 2 else 1.0 for rank in range(self.ranks))

    @property
    def spec(self) -> LoadSpec:
        """A load that changes four times while a rank does its share unloaded."""
        if self.load != "random":
            return LoadSpec()
        return LoadSpec(random=RandomLoad(5, EACH * self.mean_s / 4, 1000))

    def machine(self) -> Machine:
        """On a network whose patterns follow from its latency."""
        line = Pattern((-self.latency_s, self.latency_s))
        square = Pattern((0.0, -self.latency_s / 5, self.latency_s / 5))
        return Machine(self.speeds, Network(self.latency_s, 1e8, line, line, square), self.spec)

    def loop(self) -> tuple[LoopModel, IterationCosts]:
        """The loop, and its work as the model has it."""
        n = self.ranks * EACH
        if not self.triangular:
            return LoopModel(n, self.mean_s, iteration_bytes=self.row_bytes), IterationCosts(self.mean_s)
        costs = range(1, 2 * n, 2)
        unit_s, prefix = self.mean_s / n, tuple(accumulate(costs, initial=0))
        work_table = WorkTable(tuple(range(n + 1)), prefix)
        seconds = tuple(unit_s * cost for cost in costs)
        return LoopModel(n, seconds, work_table=work_table, iteration_bytes=self.row_bytes), IterationCosts(
            unit_s, prefix
        )

    def path(self) -> tuple[Processor, ...]:
        """The speeds to come."""
        random = self.spec.random
        if random is None:
            return tuple(map(Processor.steady, self.speeds))
        blocks = [(block + 0.5) * random.duration_s for block in range(80)]
        loads = (Load(self.spec, rank) for rank in range(self.ranks))
        return tuple(under([load.level(when) for when in blocks], random.duration_s) for load in loads)

    def known(self, work: IterationCosts) -> ModelInputs:
        """At the loop's beginning; the history is what is to come, for the estimate."""
        n, path, slice_s = self.ranks * EACH, self.path(), EACH * self.mean_s / 4
        held = tuple(tuple((run.start, run.stop) for run in spans.runs) for spans in block(n, self.ranks))
        seen = tuple(tuple(each.average(k * slice_s, (k + 1) * slice_s) for k in range(10)) for each in path)
        now = tuple(each.average(0.0, 0.0) for each in path)
        groups, network = (tuple(range(self.ranks)),), self.machine().network
        history = LoadForecast(seen, slice_s)
        size, without_rows = self.row_bytes, not self.row_bytes
        return ModelInputs(
            0.0, work, held, now, history, groups, network, iteration_bytes=size, without_rows=without_rows
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds simulated, predicted by a play (None: by none), and estimated; the least that is possible."""

    name: str
    setting: Setting
    simulated_s: float
    played_s: float | None
    estimated_s: float
    lower_bound_s: float

    @property
    def error(self) -> float:
        """Of the play, of the estimate where there is none."""
        return (self.estimated_s if self.played_s is None else self.played_s) / self.simulated_s - 1

    @property
    def rough(self) -> float:
        """Of the estimate."""
        return self.estimated_s / self.simulated_s - 1


def candidate(name: str, facts: LoopStatistics) -> Estimated:
    """The model of a strategy of which the rule is told these facts."""
    if name == "steal":
        return StealingModel(plays=4)
    return DiffusionModel() if name == "diffusion" else SelfSchedulingModel(name, known=facts)


def measure(name: str, setting: Setting) -> Measured:
    """One strategy, once."""
    machine, (loop, work), peers = setting.machine(), setting.loop(), strategy(name)
    known, path = setting.known(work), setting.path()
    model = candidate(name, start_in(machine, loop, peers, Parameters()).known)
    floor = lower_bound_s(path, known.remaining.work_s)
    simulated_s = last_s(machine, loop, name)
    estimated_s = max(floor, model.estimate_s(known, EstimateInputs.of(known, floor, (path,))))
    played_s = model.simulate_s(known, path) if isinstance(model, Candidate) else None
    return Measured(name, setting, simulated_s, played_s, estimated_s, floor)


def last_s(machine: Machine, loop: LoopModel, name: str) -> float:
    """When the last rank has nothing left to do, and knows it."""
    return simulate(machine, loop, strategy(name), traced=False).makespan_s


def grid(ranks: Sequence[int]) -> Iterator[Setting]:
    """All settings."""
    shapes, loads = (False, True), ("none", "random", "slow")
    for point in product(ranks, (1e-3, 1e-2), shapes, loads, (5e-5, 1e-3), (0.0, 800.0)):
        yield Setting(*point)


def line(name: str, found: Sequence[Measured]) -> str:
    """Median and 90th percentile of both errors, and the worst of the first."""
    errors, rough = sorted(abs(each.error) for each in found), sorted(abs(each.rough) for each in found)
    worst, high = max(found, key=lambda each: abs(each.error)), int(0.9 * len(found))
    return (
        f"{name:10s} {median(errors):7.3f} {errors[high]:7.3f} {worst.error:+8.3f} "
        f"{median(rough):9.3f} {rough[high]:7.3f}   {worst.setting}"
    )


def main() -> None:
    """Print a line a strategy; write all figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--strategy", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"{'strategy':10s}  median    90th    worst  estimate:    90th   worst at")
    everything = []
    for name in options.strategy:
        found = [measure(name, setting) for setting in grid(options.ranks)]
        print(line(name, found), flush=True)
        everything += found
    print(f"all: median {median(abs(each.error) for each in everything):.3f}")
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in everything], indent=1) + "\n")


if __name__ == "__main__":
    main()
