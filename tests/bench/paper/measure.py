"""Runs a program once under the load of a seed: all strategies in one launch, in an order drawn by the seed.

What it prints is compared with what the original prints alone, for every strategy.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.bench.paper.copies import Copies, copies
from tests.bench.paper.machines import Failed, Machine
from tests.bench.paper.plan import STRATEGIES, Launch, clairvoyant_s, load
from tests.bench.paper.records import Run
from tests.support.mpi import run_sequential, transform

__all__ = ["PROGRAMS", "Bench"]

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"

#: Start-up and all loops, each under the highest load throughout.
_START_S = 120.0
_SLOWEST = 6.0


@dataclass
class Bench:
    """``directory`` takes the generated programs and their statistics."""

    machine: Machine
    directory: Path
    seconds: float
    duration_s: float
    strategies: Sequence[str] = STRATEGIES
    _prepared: dict[str, tuple[Path, Copies]] = field(default_factory=dict)
    _expected: dict[tuple[str, tuple[int, ...]], bytes] = field(default_factory=dict)

    def measure(self, launch: Launch, seed: int) -> list[Run]:
        """One run of each loop of a program under each strategy; Failed or AssertionError where one fails."""
        order = list(self.strategies)
        Random(f"{launch.name} {launch.ranks} {seed}").shuffle(order)
        random = load(launch, self.duration_s, seed)
        least = [clairvoyant_s(work_s, random, launch.ranks) for work_s in launch.work_s()]
        found = self.launch(launch, order, seed)
        return [
            _run(launch, loop, strategy, seed, order.index(strategy), least[loop], record)
            for (loop, strategy), record in sorted(found.items())
        ]

    def launch(
        self, launch: Launch, order: Sequence[str], seed: int
    ) -> dict[tuple[int, str], dict[str, Any]]:
        """Run the copies in this order; what the statistics say of each loop and strategy."""
        program, copied = self._program(launch)
        stats = self.directory / "stats.json"
        stats.unlink(missing_ok=True)
        random = load(launch, self.duration_s, seed)
        timeout = _START_S + len(order) * len(launch.cases) * self.seconds * _SLOWEST
        done = self.machine.run(launch, [str(program), *launch.arguments(), *order], random, stats, timeout)
        if done.status or not stats.exists():
            raise Failed(f"status {done.status}: {done.stderr[-2000:]}")
        expected = self._output(launch) * (1 + len(order))
        if done.stdout != expected:
            raise Failed(f"expected the original's output, {expected!r}, found {done.stdout!r}")
        loops = json.loads(stats.read_text(encoding="utf-8"))["loops"]
        places = ((copied.loops[int(record["source"].rpartition(":")[2])], record) for record in loops)
        return {place: record for place, record in places if place[1] in order}

    def _program(self, launch: Launch) -> tuple[Path, Copies]:
        """The generated program that has a copy of the loops for each strategy."""
        if launch.source not in self._prepared:
            shutil.copy(PROGRAMS / "pacing.py", self.directory)
            copied = copies(PROGRAMS / launch.source, self.strategies)
            source = self.directory / launch.source
            source.write_text(copied.text, encoding="utf-8")
            self._prepared[launch.source] = transform(source, self.directory), copied
        return self._prepared[launch.source]

    def _output(self, launch: Launch) -> bytes:
        """What the original prints; its iterations wait for nothing."""
        sizes, seconds = launch.arguments()
        if (key := (launch.source, launch.sizes)) not in self._expected:
            idle = ",".join("0" for _ in seconds.split(","))
            done = run_sequential([sys.executable, str(PROGRAMS / launch.source), sizes, idle], 120)
            if done.status:
                raise Failed(f"the original: status {done.status}: {done.stderr[-2000:]}")
            self._expected[key] = done.stdout
        return self._expected[key]


def _run(
    launch: Launch, loop: int, strategy: str, seed: int, place: int, least_s: float, record: dict[str, Any]
) -> Run:
    case = launch.cases[loop]
    return Run(
        case.name, case.ranks, strategy, seed, place, record["elapsed_s"], least_s,
        record["strategy"], record["predicted_s"], record["synchronizations"], record["redistributions"],
        record["iterations_moved"], record["bytes_moved"], record["balance_efficiency"],
        sum(rank["compute_s"] for rank in record["per_rank"]), record["overhead_s"],
    )  # fmt: skip
