"""No thrashing at any grain: a strategy over `none`, from 0.1 us to 1 s an iteration, on real ranks.

    python tests/bench/grain.py [--ranks P ...] [--load NAME ...] [--grain S ...] [--strategy NAME]
                                [--seconds S] [--rounds N] [--json FILE]

Iterations below 1 ms compute, longer ones wait. Each line: time over that of `none`, runs in turn, median and
spread; synchronizations, redistributions and iterations moved over all, the most in any run; the gain of the
redistributions, predicted and realised, as the statistics say, in percent of the time of `none`. Without load
the ratio should be at most 1.01 and one synchronization enough; with load it should be below 1 wherever there
are iterations enough to deal anew. None is a test.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.mpi import run_mpi, transform

PROGRAM = Path(__file__).resolve().parent / "programs" / "grains.py"
GRAINS_S = tuple(10.0**power for power in range(-7, 1))
LOADS = {"none": "none", "one rank": "fixed:{3}", "random": "random:max=5,duration={duration},seed={seed}"}
STEP_S = 6e-8


@dataclass(frozen=True, slots=True)
class Once:
    """One run: seconds, and what the statistics say of the loop."""

    seconds: float
    synchronizations: int
    redistributions: int
    moved: int
    predicted_s: float
    realised_s: float


@dataclass(frozen=True, slots=True)
class Line:
    """Runs of one grain, load and number of ranks."""

    grain_s: float
    ranks: int
    load: str
    iterations: int
    none_s: float
    ratio: float
    least: float
    most: float
    synchronizations: int
    redistributions: int
    moved: float
    predicted: float
    realised: float

    def __str__(self) -> str:
        return (
            f"{self.grain_s:7.0e} s x {self.iterations:8d}  P={self.ranks:<2d} {self.load:8s} "
            f"none {self.none_s:7.3f} s  ratio {self.ratio:5.3f} ({self.least:5.3f} .. {self.most:5.3f})  "
            f"{self.synchronizations:3d} syncs {self.redistributions:3d} moves {self.moved:6.3f} n  "
            f"gain {self.predicted:5.1f} % predicted {self.realised:5.1f} % realised"
        )


def once(program: Path, ranks: int, arguments: Sequence[str], load: str, strategy: str) -> Once:
    """Run the program under a load and a strategy."""
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        env = {"DLB_STRATEGY": strategy, "DLB_LOAD": load, "DLB_STATS": stats.name}
        done = run_mpi(ranks, [sys.executable, str(program), *arguments], 300, env)
        assert done.status == 0, done.stderr
        loop = json.loads(Path(stats.name).read_text(encoding="utf-8"))["loops"][0]
    found = re.search(r"seconds ([\d.]+)", done.stderr)
    assert found, done.stderr
    gain = loop.get("gain", {"predicted_s": 0.0, "realised_s": 0.0})
    counts = loop["synchronizations"], loop["redistributions"], loop["iterations_moved"]
    return Once(float(found[1]), *counts, gain["predicted_s"], gain["realised_s"])


def load_of(name: str, ranks: int, grain_s: float, seconds: float, seed: int) -> str:
    """The setting: load 3 on rank 0 alone, or random, for a tenth of the run or some iterations at a time."""
    fixed = ",".join(["3"] + ["0"] * (ranks - 1))
    duration = max(seconds / 10, 3 * grain_s)
    return LOADS[name].replace("{3}", fixed).format(duration=duration, seed=seed)


def line(
    program: Path, grain_s: float, ranks: int, load: str, strategy: str, seconds: float, rounds: int
) -> Line:
    """Runs of a strategy and of none in turn, under the same seeds."""
    n = ranks * max(4, round(seconds / grain_s))
    waits = grain_s >= 1e-3
    arguments = [str(n), "0" if waits else str(round(grain_s / STEP_S)), str(grain_s if waits else 0)]
    pairs = []
    for seed in range(rounds):
        spec = load_of(load, ranks, grain_s, seconds, seed)
        pairs.append([once(program, ranks, arguments, spec, name) for name in (strategy, "none")])
    ratios = [one.seconds / none.seconds for one, none in pairs]
    return Line(
        grain_s,
        ranks,
        load,
        n,
        median(none.seconds for _, none in pairs),
        median(ratios),
        min(ratios),
        max(ratios),
        max(one.synchronizations for one, _ in pairs),
        max(one.redistributions for one, _ in pairs),
        max(one.moved for one, _ in pairs) / n,
        median(100 * one.predicted_s / none.seconds for one, none in pairs),
        median(100 * one.realised_s / none.seconds for one, none in pairs),
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--load", nargs="+", choices=LOADS, default=list(LOADS))
    parser.add_argument("--grain", type=float, nargs="+", default=GRAINS_S)
    parser.add_argument("--strategy", default="GDDLB")
    parser.add_argument("--seconds", type=float, default=1.0, help="of computing on each rank, without load")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as out:
        program = transform(PROGRAM, out)
        for load in options.load:
            for ranks in options.ranks:
                for grain_s in options.grain:
                    setting = (options.strategy, options.seconds, options.rounds)
                    lines.append(line(program, grain_s, ranks, load, *setting))
                    print(lines[-1], flush=True)
    if options.json:
        options.json.write_text(
            json.dumps([asdict(each) for each in lines], indent=2) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
