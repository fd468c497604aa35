"""How well a run is foretold: predicted by the model, simulated, and measured, for every strategy.

    python tests/bench/prediction.py [--machine emulated|lab] [--cases REGEX] [--ranks 4,16]
        [--seeds N] [--seconds S] [--duration T_L] [--strategies NAME,...] [--json FILE]

Cases of Zaki, Li, Parthasarathy, table 1.4, scaled as `strategies.py` scales them, under random load.
Measured is the time from when ranks begin to compute until the last has ended: what a rank computed, waited,
decided and moved. Simulated is the makespan of the same policies in virtual time, with the same draws of
load, the same work, and the network as the run knew it; neither has seen the loop before. Predicted is what
`auto`'s model said at the first synchronization of the run under `auto`. The floor is what no schedule could
beat. Prints a line for each strategy and case, and the median and the largest error, |x / measured - 1|, for
each number of ranks. None is a test.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from dlbrt.balance.chooser import StrategyChooser
from dlbrt.balance.strategies import AUTO, UNCHOSEN, names, strategy
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.work_table import UNIFORM, WorkTable
from dlbrt.emulation import LoadSpec
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import blocks
from dlbrt.predict.network import Network, Pattern
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from papers.zaki.cases import Case

from tests.bench.paper.machines import MACHINES, Failed
from tests.bench.paper.measure import Bench
from tests.bench.paper.plan import Launch, clairvoyant_s, launches, load

#: Where ranks spend their time in a loop, by the statistics.
PARTS = ("compute_s", "sync_s", "idle_s", "decision_s", "movement_s")


@dataclass(frozen=True, slots=True)
class Line:
    """One strategy in one case under one load, in seconds; None where nothing was predicted."""

    case: str
    ranks: int
    seed: int
    strategy: str
    measured_s: float
    simulated_s: float
    predicted_s: float | None
    lower_bound_s: float

    def __str__(self) -> str:
        predicted = "      -        " if self.predicted_s is None else self._beside(self.predicted_s)
        return (
            f"{self.case:16s} P={self.ranks:<2d} {self.strategy:9s} {self.measured_s:7.3f} s  "
            f"simulated {self._beside(self.simulated_s)}  predicted {predicted}  "
            f"lower bound {self.lower_bound_s:7.3f} s"
        )

    def _beside(self, seconds: float) -> str:
        return f"{seconds:7.3f} {100 * (seconds / self.measured_s - 1):+6.1f} %"


def loop_model(case: Case, work_s: float) -> LoopModel:
    """The loop after the fold, its iterations as dear as they were found to be."""
    scale = work_s / case.work.units(((0, case.size),))
    prefix = case.work.prefix
    if prefix is None:
        return LoopModel(case.size, scale, iteration_bytes=case.iteration_bytes)
    seconds = tuple((after - before) * scale for before, after in pairwise(prefix))
    work_table = WorkTable(tuple(range(case.size + 1)), tuple(prefix)) if prefix else UNIFORM
    return LoopModel(case.size, seconds, work_table=work_table, iteration_bytes=case.iteration_bytes)


def network_of(inputs: dict[str, Any]) -> Network:
    """The network that a choice was made by."""
    found = dict(inputs["network"])
    for name in ("one_to_all", "all_to_one", "all_to_all"):
        found[name] = Pattern(**found[name] | {"coefficients": tuple(found[name]["coefficients"])})
    return Network(**found)


def simulated_s(machine: Machine, model: LoopModel, name: str) -> float:
    """The makespan in virtual time."""
    parameters = replace(Parameters(), byte_s=1 / machine.network.bandwidth)
    if name == AUTO:
        chooser = StrategyChooser(machine.network, machine.groups)
        return simulate(machine, model, strategy(UNCHOSEN), parameters, chooser, traced=False).makespan_s
    found = simulate(machine, model, strategy(name), parameters, known=LoopStatistics(), traced=False)
    return found.makespan_s


def measured_s(record: dict[str, Any]) -> float:
    """From the start of computing to the end, of the rank that took longest."""
    return max(sum(rank[part] for part in PARTS) for rank in record["per_rank"])


def lines(bench: Bench, launch: Launch, seed: int) -> Iterator[Line]:
    """All strategies in the cases of one launch."""
    work = launch.work_s()
    random = load(launch, bench.duration_s, seed)
    records = bench.launch(launch, bench.strategies, seed)
    for loop, case in enumerate(launch.cases):
        choice = records[loop, AUTO]["choice"]
        machine = Machine(
            (1.0,) * launch.ranks,
            network_of(choice["inputs"]),
            LoadSpec(random=random),
            blocks(launch.ranks, launch.ranks // 2),
        )
        model, lower_bound_s = loop_model(case, work[loop]), clairvoyant_s(work[loop], random, launch.ranks)
        for name in bench.strategies:
            yield Line(
                case.name,
                launch.ranks,
                seed,
                name,
                measured_s(records[loop, name]),
                simulated_s(machine, model, name),
                choice["predicted_s"].get(records[loop, AUTO]["strategy"] if name == AUTO else name),
                lower_bound_s,
            )


def errors(found: Sequence[Line], ranks: int, what: str) -> str:
    """The median and the largest error of what was foretold."""
    pairs = [(getattr(line, what), line.measured_s) for line in found if line.ranks == ranks]
    away = [abs(seconds / measured - 1) for seconds, measured in pairs if seconds is not None]
    if not away:
        return f"P={ranks}: nothing {what.removesuffix('_s')}"
    name = what.removesuffix("_s")
    middle, most = 100 * median(away), 100 * max(away)
    return f"P={ranks}: {name}, median error {middle:.1f} %, largest {most:.1f} %, of {len(away)}"


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--machine", choices=MACHINES, default="emulated")
    parser.add_argument("--cases", type=re.compile, default=re.compile("MXM|AC"), metavar="REGEX")
    parser.add_argument("--ranks", type=lambda text: [int(each) for each in text.split(",")], default=[4, 16])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.6, help="of a loop without load")
    parser.add_argument("--duration", type=float, default=20.0, help="t_l, in the paper's seconds")
    parser.add_argument("--strategies", type=lambda text: text.split(","), default=list(names()))
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def main() -> int:
    """Measure and print; status 1 if a launch failed."""
    options = parse()
    machine = MACHINES[options.machine]
    if reason := machine.why_not():
        raise SystemExit(f"--machine {options.machine}: {reason}")
    found, failed = list[Line](), 0
    chosen = [
        launch
        for launch in launches(options.seconds)
        if launch.ranks in options.ranks and any(options.cases.search(case.name) for case in launch.cases)
    ]
    with tempfile.TemporaryDirectory(prefix="prediction-") as directory:
        given = (*options.strategies, "none")
        strategies = (*dict.fromkeys(name for name in given if name != AUTO), AUTO)
        bench = Bench(machine, Path(directory), options.seconds, options.duration, strategies)
        for seed in range(1, options.seeds + 1):
            for launch in chosen:
                try:
                    for line in lines(bench, launch, seed):
                        found.append(line)
                        print(line, flush=True)
                except (Failed, AssertionError) as error:
                    failed += 1
                    print(f"failed: {launch.name} P={launch.ranks}: {error}", file=sys.stderr)
    for ranks in options.ranks:
        print(errors(found, ranks, "simulated_s"), errors(found, ranks, "predicted_s"), sep="\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(line) for line in found], indent=1), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
