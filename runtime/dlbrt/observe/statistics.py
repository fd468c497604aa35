"""The figures of a run: one record per loop, totals over its runs, written as JSON (contract, section 6).

The same records serve every driver. Times are in seconds, emulated waiting counts as computing. How far ranks
were apart is told by Swartz's measures (section 2, equations 2 and 3), as measured and as it was planned.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from math import isfinite
from typing import TYPE_CHECKING

from dlbrt.balance.messages import RedistributionGain, Window
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.predict.choose import StrategyChoice

#: The parts of a rank's time, apart from one another.
_SECONDS = ("compute_s", "sync_s", "idle_s", "decision_s", "movement_s")

#: What is added up over the runs of a loop.
_COUNTED = (
    "iterations",
    "synchronizations",
    "redistributions",
    "iterations_moved",
    "bytes_moved",
    "rows_fetched",
    "bytes_fetched",
)

#: Version of the layout of the statistics.
_VERSION = 1


@dataclass(frozen=True, slots=True)
class RankFigures:
    """What one rank did: iterations; seconds computing, synchronizing, idle, deciding, moving work."""

    iterations: int = 0
    compute_s: float = 0.0
    sync_s: float = 0.0
    idle_s: float = 0.0
    decision_s: float = 0.0
    movement_s: float = 0.0

    def __add__(self, other: RankFigures) -> RankFigures:
        return RankFigures(
            self.iterations + other.iterations,
            self.compute_s + other.compute_s,
            self.sync_s + other.sync_s,
            self.idle_s + other.idle_s,
            self.decision_s + other.decision_s,
            self.movement_s + other.movement_s,
        )


def until_the_last(figures: Sequence[RankFigures]) -> tuple[RankFigures, ...]:
    """The same, each rank being idle until the last one has ended: groups end by themselves."""
    totals = [sum(getattr(each, name) for name in _SECONDS) for each in figures]
    ends = max(totals, default=0.0)
    return tuple(
        replace(each, idle_s=each.idle_s + ends - total) for each, total in zip(figures, totals, strict=True)
    )


@dataclass(frozen=True, slots=True)
class PlannedShares:
    """What the first shares of a run were to take, by its cost function or measured density.

    ``times`` is the work of each rank's share over its relative speed, in any unit: 0 or more, of at least
    one rank; infinite for work given to a rank without speed, which no measure is told of. ``loss`` is the
    ratio by which the longest is above what shares of parts of iterations would take, where it is known.
    """

    times: tuple[float, ...]
    loss: float | None = None

    def as_json(self) -> dict[str, float]:
        """The measures of imbalance, and the loss from whole iterations, in percent; finite ones alone."""
        if not all(map(isfinite, self.times)):
            return {}
        loss = {} if self.loss is None else {"whole_iterations_loss": self.loss * 100}
        return _imbalance(self.times) | loss


@dataclass(frozen=True, slots=True)
class LoopRun:
    """One run of a loop. ``per_rank`` has an entry per rank; ``reason`` says why it ran locally.

    ``windows`` are those of all groups, the latest, and ``gain`` is what all their redistributions gained;
    ``choice`` is how the strategy was chosen, if it was. ``rows_fetched`` are those that ranks lacked, of
    arrays that stay on them, when it began.
    """

    strategy: str
    iterations: int
    elapsed_s: float
    per_rank: tuple[RankFigures, ...]
    synchronizations: int = 0
    redistributions: int = 0
    iterations_moved: int = 0
    bytes_moved: int = 0
    choice: StrategyChoice | None = None
    reason: str = ""
    overhead_s: float | None = None
    planned: PlannedShares | None = None
    windows: tuple[Window, ...] = ()
    gain: RedistributionGain = field(default_factory=RedistributionGain)
    rows_fetched: int = 0
    bytes_fetched: int = 0

    @property
    def shared(self) -> bool:
        """Whether more than one rank did iterations."""
        return sum(figures.iterations > 0 for figures in self.per_rank) > 1


@dataclass(slots=True)
class LoopRecord:
    """Totals over the runs of one loop; strategy, reason and windows are those of the last run.

    ``proof`` says on what the independence of its iterations rests. ``shared_s`` is the computing time of
    each rank in the runs that ranks shared: what rank 0 ran alone was not to be balanced. ``planned`` is of
    the last run that has one, ``choice`` of the last in which a strategy was chosen, in so many ``choices``.
    """

    id: int | str
    source: str
    ranks: int
    runs: int = 0
    iterations: int = 0
    strategy: str = ""
    reason: str = ""
    predicted_s: dict[str, float] = field(default_factory=dict)
    choices: int = 0
    choice: StrategyChoice | None = None
    synchronizations: int = 0
    redistributions: int = 0
    iterations_moved: int = 0
    bytes_moved: int = 0
    elapsed_s: float = 0.0
    overhead_s: float | None = None
    per_rank: list[RankFigures] = field(default_factory=list)
    proof: str = ""
    shared_s: list[float] = field(default_factory=list)
    planned: PlannedShares | None = None
    gain: RedistributionGain = field(default_factory=RedistributionGain)
    windows: tuple[Window, ...] = ()
    rows_fetched: int = 0
    bytes_fetched: int = 0

    def __post_init__(self) -> None:
        if not self.per_rank:
            self.per_rank = [RankFigures()] * self.ranks
        if not self.shared_s:
            self.shared_s = [0.0] * self.ranks

    def add(self, run: LoopRun) -> None:
        """Count one more run; ValueError unless it has figures for each rank."""
        self.per_rank = [old + new for old, new in zip(self.per_rank, run.per_rank, strict=True)]
        self.runs += 1
        self.strategy, self.reason = run.strategy, run.reason
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(run, name))
        self.elapsed_s += run.elapsed_s
        if run.choice is not None:
            self.choice, self.choices = run.choice, self.choices + 1
            for strategy, seconds in run.choice.predicted_s:
                self.predicted_s[strategy] = self.predicted_s.get(strategy, 0.0) + seconds
        self.windows = run.windows
        self.gain += run.gain
        if run.overhead_s is not None:
            self.overhead_s = (self.overhead_s or 0.0) + run.overhead_s
        if run.shared:
            times = (figures.compute_s for figures in run.per_rank)
            self.shared_s = [old + new for old, new in zip(self.shared_s, times, strict=True)]
        self.planned = run.planned or self.planned

    @property
    def balance_efficiency(self) -> float:
        """Mean over maximum of the ranks' computing time, 0..1; 1.0 where none computed."""
        times = [figures.compute_s for figures in self.per_rank]
        return sum(times) / len(times) / max(times) if any(times) else 1.0

    def as_json(self) -> dict[str, object]:
        """The object of the contract; what follows ``per_rank`` only where there is one."""
        document: dict[str, object] = {
            "id": self.id,
            "source": self.source,
            "runs": self.runs,
            "iterations": self.iterations,
            "strategy": self.strategy,
            "predicted_s": dict(self.predicted_s),
            "synchronizations": self.synchronizations,
            "redistributions": self.redistributions,
            "iterations_moved": self.iterations_moved,
            "bytes_moved": self.bytes_moved,
            "elapsed_s": self.elapsed_s,
            "balance_efficiency": self.balance_efficiency,
            "per_rank": [asdict(figures) for figures in self.per_rank],
        }
        if self.proof:
            document["proof"] = self.proof
        if self.reason:
            document["reason"] = self.reason
        if self.overhead_s is not None:
            document["overhead_s"] = self.overhead_s
        if any(self.shared_s):
            document["imbalance"] = _imbalance(self.shared_s)
        if self.planned is not None and (planned := self.planned.as_json()):
            document["planned"] = planned
        if self.gain.redistributions:
            document["gain"] = asdict(self.gain)
        if self.rows_fetched:
            document["rows_fetched"], document["bytes_fetched"] = self.rows_fetched, self.bytes_fetched
        if self.choice is not None:
            document["choice"] = {"runs": self.choices} | self.choice.record()
        if self.windows:
            document["windows"] = [asdict(window) for window in self.windows]
        return document


@dataclass(frozen=True, slots=True)
class RoutineFigures:
    """One run of a routine: how often each loop, by id, ran on the ranks; what came home for sequential code.

    ``fetches`` are messages, ``home_bytes`` their contents, those at the routine's end included.
    """

    runs: Mapping[str, int]
    fetches: int = 0
    home_bytes: int = 0


@dataclass(slots=True)
class RoutineRecord:
    """Totals over the runs of one routine; ``passes`` are runs of the loop that ran most often in each."""

    source: str
    runs: int = 0
    passes: int = 0
    loops: dict[str, int] = field(default_factory=dict)
    fetches: int = 0
    home_bytes: int = 0

    def add(self, figures: RoutineFigures) -> None:
        """Count one more run."""
        self.runs += 1
        self.passes += max(figures.runs.values(), default=0)
        for loop, runs in figures.runs.items():
            self.loops[loop] = self.loops.get(loop, 0) + runs
        self.fetches += figures.fetches
        self.home_bytes += figures.home_bytes

    def as_json(self) -> dict[str, object]:
        """The object of the statistics."""
        return asdict(self) | {"loops": list(self.loops)}


def _imbalance(times: Sequence[float]) -> dict[str, float]:
    """L_I (equation 2), L_E (equation 3), and the variant that divides by the longest time; in percent."""
    from dlbrt.partition.imbalance import efficiency, idle_share, inefficiency

    return {"L_I": inefficiency(times), "L_E": efficiency(times), "idle_share": idle_share(times)}


def report(
    records: Sequence[LoopRecord],
    ranks: int,
    host_names: Sequence[str],
    elapsed_s: float,
    routines: Sequence[RoutineRecord] = (),
) -> dict[str, object]:
    """The statistics of a program: one entry per loop, in the order given, and one per routine."""
    document: dict[str, object] = {
        "version": _VERSION,
        "ranks": ranks,
        "host_names": list(host_names),
        "elapsed_s": elapsed_s,
        "loops": [record.as_json() for record in records],
    }
    if routines:
        document["routines"] = [routine.as_json() for routine in routines]
    return document


def write(path: str | os.PathLike[str], document: Mapping[str, object]) -> None:
    """Write a report as JSON, as `write_text`; ValueError if a figure is not finite."""
    import json

    write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file wholly or not at all; a device or pipe is written to directly. OSError if it cannot be."""
    from pathlib import Path

    target = Path(path).resolve()  # through a symbolic link: what it names is replaced, not the link
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
