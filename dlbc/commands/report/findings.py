"""Causes of lost time, findings, and the efficiencies of POP."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from dlbrt.records import dataclass

from dlbc.commands.report.facts import RunFacts


class Cause(Enum):
    """Why ranks did not compute."""

    UNEVEN_COST = "iterations cost unequally"
    SLOW_RANK = "a slow or loaded rank"
    MEMORY_CLIFF = "a memory cliff"
    FEW_ITERATIONS = "few long iterations"
    UNEXPLAINED_WAITING = "ranks waited for each other"
    TRANSFERS = "sending calls, rows and results"
    SYNCHRONIZATION = "synchronizations"
    SHORT_LOOP = "too short a loop"
    STARTUP = "imports, compiling and the first call"
    SEQUENTIAL = "the sequential part"
    INTERPRETED = "left to Python under jit"
    ALONE = "run by rank 0 alone"


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The three efficiencies of POP, 0..1."""

    load_balance: float
    communication: float

    @property
    def parallel(self) -> float:
        """The parallel efficiency."""
        return self.load_balance * self.communication


@dataclass(frozen=True, slots=True)
class TimeFinding:
    """One cause at one loop (``place`` is empty for the program), what shows it, and what to do about it.

    ``gain_s`` are the seconds of the program that it costs, at most.
    """

    cause: Cause
    place: str
    gain_s: float
    what: str
    remedy: str


def efficiency(runs: Sequence[RunFacts]) -> Efficiency | None:
    """The efficiencies of some runs taken together; None if nothing was computed in them."""
    mean, longest = sum(run.mean_s for run in runs), sum(max(run.compute_s) for run in runs)
    elapsed = sum(max(run.elapsed_s, *run.compute_s) for run in runs)
    return Efficiency(mean / longest, longest / elapsed) if longest > 0 else None
