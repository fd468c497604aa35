"""The finest useful grain of every strategy: METG(50 %), minimum effective task granularity.

    python tests/bench/metg.py [--ranks P] [--seconds S] [--rounds N] [--strategy NAME ...] [--json FILE]

After Slaughter et al. (SC 2020): the least time of an iteration at which P ranks still do at least half as
much as P times one. Efficiency is the time of the original on one processor over P times that of the run;
iterations compute. Grains fall by halves from 1 ms, with as many iterations as take S seconds on one rank;
between the last grain that reaches a half and the next one the place is interpolated. P is not to be more
than there are cores. Prints for each strategy its METG and the efficiency at some grains, medians of some
rounds. None is a test.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbrt.balance.strategies import names

from tests.support.mpi import run_mpi, run_sequential, transform

PROGRAM = Path(__file__).resolve().parent / "programs" / "grains.py"
STEP_S = 6e-8
STEPS = (*(16384 >> power for power in range(15)), 0)
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Line:
    """A strategy's METG in seconds (None: every grain reaches a half), and its efficiency by grain."""

    strategy: str
    metg_s: float | None
    efficiencies: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        shown = "  ".join(f"{1e6 * grain:.3g} us {part:.2f}" for grain, part in self.efficiencies[::3])
        least = self.efficiencies[-1][0]
        found = f"< {1e6 * least:.3g}" if self.metg_s is None else f"{1e6 * self.metg_s:.3g}"
        return f"{self.strategy:10s} METG(50 %) {found:>8s} us   {shown}"


def took_s(text: str) -> float:
    """What the program says of its loop."""
    found = re.search(r"seconds ([\d.]+)", text)
    assert found, text
    return float(found[1])


def efficiencies(
    program: Path,
    strategy: str,
    ranks: int,
    alone_s: Callable[[int, int], float],
    seconds: float,
    rounds: int,
) -> list[tuple[float, float]]:
    """The grain and the efficiency at each, from coarse to fine, until it falls far below a half."""
    found: list[tuple[float, float]] = []
    for steps in STEPS:
        n = max(4 * ranks, round(seconds / (steps * STEP_S + 5e-8)))
        arguments, env = [str(n), str(steps), "0"], {"DLB_STRATEGY": strategy}
        times = [
            took_s(run_mpi(ranks, [sys.executable, str(program), *arguments], 300, env).stderr)
            for _ in range(rounds)
        ]
        alone = alone_s(n, steps)
        found.append((alone / n, alone / (ranks * median(times))))
        if found[-1][1] < HALF / 2:
            break
    return found


def metg(found: Sequence[tuple[float, float]]) -> float | None:
    """Where efficiency falls below a half, between two grains in proportion to their logarithms."""
    for (coarse, above), (fine, below) in pairwise(found):
        if above >= HALF > below:
            part = (above - HALF) / (above - below)
            return coarse * (fine / coarse) ** part if fine < coarse else fine
    return None if found[-1][1] >= HALF else found[0][0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strategy", nargs="+", default=list(names()))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lines, alone = [], dict[tuple[int, int], float]()
    with tempfile.TemporaryDirectory() as out:
        program = transform(PROGRAM, out)

        def alone_s(n: int, steps: int) -> float:
            if (n, steps) not in alone:
                command = [sys.executable, str(PROGRAM), str(n), str(steps), "0"]
                times = [took_s(run_sequential(command).stderr) for _ in range(options.rounds)]
                alone[n, steps] = median(times)
            return alone[n, steps]

        for strategy in options.strategy:
            found = efficiencies(program, strategy, options.ranks, alone_s, options.seconds, options.rounds)
            lines.append(Line(strategy, metg(found), tuple(found)))
            print(lines[-1], flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(line) for line in lines], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
