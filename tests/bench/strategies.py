"""The paper's 28 cases on real ranks: each strategy forced, and by choice, under paired random load.

    python tests/bench/strategies.py [--machine emulated|lab] [--cases REGEX] [--ranks 4,16]
        [--seeds N] [--time-budget MINUTES] [--seconds S] [--duration T_L] [--json FILE]

MXM, TRFD's L1 and L2 and AC with the sizes of Zaki, Li, Parthasarathy, table 1.4, time scaled so that a loop
takes S seconds without load; t_l is in the paper's seconds, and scaled alike. Seeds go round: every case
under the first load, then every case under the next, until the budget is spent; a round of 28 cases takes
about 15 minutes with S = 1.6. Prints, for each case, the strategy that was best and the one that `auto` went
on with, beside the paper's; the time of `auto` over the best's (ratio of medians, mean and range over paired
seeds); that of its choice when forced; the best over no balancing and over the clairvoyant optimum (all work
over the whole effective speed). With --json all runs are kept, and a file that exists is gone on with.

On the machine `emulated` ranks share this host and iterations wait; in the `lab` (root, Linux) each rank has
a host of its own and computes, beside busy processes: an iteration takes its time in processor seconds, since
a shared machine's processors vary in speed by more than what is measured. None is a test.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from tests.bench.paper.machines import MACHINES, Failed
from tests.bench.paper.measure import Bench
from tests.bench.paper.plan import STRATEGIES, Launch, launches
from tests.bench.paper.records import Host, Results, Settings, read, write
from tests.bench.paper.summary import HEADER, line, rows, summary

#: A loop under random load of 0..5 takes about this many times its time without, start-up apart.
_LOADED = 3.0
_START_S = 4.0


@dataclass
class Budget:
    """Seconds that are left, and what launches have taken so far."""

    seconds: float
    began: float = field(default_factory=time.monotonic)
    took: dict[tuple[str, int], float] = field(default_factory=dict)

    def allows(self, launch: Launch, loop_s: float) -> bool:
        """Whether another run of a launch is to end in time."""
        guess = _START_S + _LOADED * loop_s * len(STRATEGIES) * len(launch.cases)
        expected = self.took.get((launch.name, launch.ranks), guess)
        return time.monotonic() - self.began + expected <= self.seconds

    def spent(self, launch: Launch, seconds: float) -> None:
        self.took[launch.name, launch.ranks] = seconds


def to_do(options: argparse.Namespace, results: Results) -> Iterator[tuple[Launch, int]]:
    """What is still to be measured: all cases under one load, then under the next."""
    chosen = [
        launch
        for launch in launches(options.seconds)
        if launch.ranks in options.ranks and any(options.cases.search(case.name) for case in launch.cases)
    ]
    if not chosen:
        raise SystemExit(
            "--cases, --ranks: no case of that name on so many ranks; names are as `MXM n=400 r=400`"
        )
    for seed in range(1, options.seeds + 1):
        for launch in chosen:
            if not results.done(launch.cases[0].name, launch.ranks, seed):
                yield launch, seed


def run(options: argparse.Namespace, results: Results) -> None:
    """Measure until all is done, or the budget is spent."""
    budget = Budget(options.time_budget * 60)
    with tempfile.TemporaryDirectory(prefix="strategies-") as directory:
        bench = Bench(MACHINES[options.machine], Path(directory), options.seconds, options.duration)
        for launch, seed in to_do(options, results):
            if not budget.allows(launch, options.seconds):
                print(f"the budget of {options.time_budget:g} minutes is spent", file=sys.stderr)
                return
            began = time.monotonic()
            _measure(bench, launch, seed, results)
            budget.spent(launch, time.monotonic() - began)
            if options.json:
                write(options.json, results, rows(results.runs))


def _measure(bench: Bench, launch: Launch, seed: int, results: Results) -> None:
    """One launch; one that fails is told and kept, and the others go on."""
    try:
        found = bench.measure(launch, seed)
    except (Failed, AssertionError) as error:
        results.failures.append(f"{launch.name} P={launch.ranks} seed {seed}: {error}")
        print(f"failed: {results.failures[-1]}", file=sys.stderr)
        return
    results.runs += found
    for case in launch.cases:
        times = {each.strategy: each.elapsed_s for each in found if each.case == case.name}
        shown = "  ".join(f"{name} {times[name]:.3f}" for name in STRATEGIES)
        committed = next(r.committed for r in found if r.case == case.name and r.strategy == "auto")
        print(f"{case.name:16s} P={case.ranks:<2d} seed {seed}: {shown} ({committed})", file=sys.stderr)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"expected a regular expression, found {text!r}: {error}") from None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(item) for item in text.split(","))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--machine", choices=MACHINES, default="emulated")
    parser.add_argument("--cases", type=_pattern, default=re.compile(""), metavar="REGEX")
    parser.add_argument("--ranks", type=_numbers, default=(4, 16), metavar="P,P")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--time-budget", type=float, default=24 * 60.0, metavar="MINUTES")
    parser.add_argument("--seconds", type=float, default=1.6, help="of a loop without load")
    parser.add_argument("--duration", type=float, default=20.0, help="t_l, in the paper's seconds")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args(arguments)


def main() -> int:
    """Measure, print the table, and write what is asked for; status 1 if a launch failed."""
    options = parse()
    settings = Settings(options.machine, options.seconds, options.duration)
    try:
        resumed = options.json is not None and options.json.exists()
        results = read(options.json, settings) if resumed else Results(settings)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    if reason := MACHINES[options.machine].why_not():
        raise SystemExit(f"--machine {options.machine}: {reason}")
    before = len(results.failures)
    results.hosts.append(Host.this())
    run(options, results)
    table = rows(results.runs)
    print(HEADER, *map(line, table), sep="\n")
    if table:
        print(*summary(table), sep="\n")
    return 1 if len(results.failures) > before else 0


if __name__ == "__main__":
    sys.exit(main())
