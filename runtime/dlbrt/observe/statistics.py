"""Statistics of a program: a record per loop with totals over its runs, as JSON (contract, section 6).

All drivers use the same records. Times are in seconds; emulated waiting counts as computing. The imbalance of
ranks is given by Swartz's measures (section 2, equations 2 and 3), as measured and as planned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from math import isfinite
from typing import TYPE_CHECKING

from dlbrt.balance.messages import RedistributionGain, Window
from dlbrt.contract import LOCAL
from dlbrt.predict.audit import NOTHING, AuditedFigure
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.predict.choose import StrategyChoice
    from dlbrt.speed.ownership import PassRecord
    from dlbrt.speed.points import SpeedPoints

#: The parts of a rank's time, which do not overlap.
_SECONDS = ("compute_s", "sync_s", "idle_s", "decision_s", "movement_s")

#: The figures that are summed over the runs of a loop.
_COUNTED = (
    *("iterations", "synchronizations", "redistributions", "iterations_moved", "bytes_moved"),
    *("rows_fetched", "bytes_fetched", "bytes_scattered", "bytes_gathered", "repeated_runs"),
)

#: The figures of a loop that are always there, in the order of the contract.
_ALWAYS = (
    *("id", "source", "runs", "iterations", "strategy", "predicted_s", "synchronizations", "redistributions"),
    *("iterations_moved", "bytes_moved", "elapsed_s", "balance_efficiency"),
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
    """The figures with each rank idle until the last rank has ended, since groups end independently."""
    if len(figures) < 2:
        return tuple(figures)  # as after most runs of short loops
    totals = [sum(getattr(each, name) for name in _SECONDS) for each in figures]
    ends = max(totals, default=0.0)
    return tuple(
        replace(each, idle_s=each.idle_s + ends - total) for each, total in zip(figures, totals, strict=True)
    )


@dataclass(frozen=True, slots=True)
class PlannedShares:
    """The predicted times of the first shares of a run, by its cost function or measured density.

    ``times`` is each rank's work over its relative speed, in any unit: at least one, none negative, infinite
    for work of a rank without speed, in which case there are no measures. ``loss`` is the ratio by which the
    longest time exceeds that of shares of divisible iterations, if known.
    """

    times: tuple[float, ...]
    loss: float | None = None

    def as_json(self) -> dict[str, float]:
        """The measures of imbalance and the loss from whole iterations, in percent, if they are finite."""
        if not all(map(isfinite, self.times)):
            return {}
        loss = {} if self.loss is None else {"whole_iterations_loss": self.loss * 100}
        return _imbalance(self.times) | loss


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """One run of a loop, or the totals of several ``runs``.

    ``per_rank`` has an entry per rank; ``reason`` says why rank 0 ran it alone.
    ``windows`` are the latest windows of all groups, ``gain`` is the gain of all their redistributions;
    ``choice`` is how the strategy was chosen, if it was. ``rows_fetched`` counts rows of resident arrays that
    ranks lacked when the run began; ``bytes_scattered`` and ``bytes_gathered`` are those of rows that rank 0
    sent out before it and got back after it. ``bytes_predicted`` are ``bytes_moved`` by the model.
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
    bytes_scattered: int = 0
    bytes_gathered: int = 0
    bytes_predicted: float = 0.0
    runs: int = 1
    repeated_runs: int = 0

    @property
    def audited_s(self) -> AuditedFigure | None:
        """The seconds from when ranks began to compute to the loop's end, as its choice predicted them."""
        predicted_s = {} if self.choice is None else dict(self.choice.predicted_s)
        if self.strategy not in predicted_s:
            return None
        longest_s = max(sum(getattr(each, name) for name in _SECONDS) for each in self.per_rank)
        return AuditedFigure(predicted_s[self.strategy], longest_s)

    @property
    def audited_bytes(self) -> AuditedFigure:
        """Bytes of the work that moved, by the model's bytes of an iteration, and as they were sent.

        Rank 0 has the rows of the program's own arrays: for work that moves to it the model counts none.
        """
        return AuditedFigure(self.bytes_predicted, self.bytes_moved)

    @property
    def audited_imbalance(self) -> AuditedFigure | None:
        """L_I in percent of the first shares as planned, and of the ranks' computing times at the end."""
        planned = {} if self.planned is None else self.planned.as_json()
        if not (planned and self.shared):
            return None
        times = [figures.compute_s for figures in self.per_rank]
        return AuditedFigure(planned["L_I"], _imbalance(times)["L_I"])

    @property
    def shared(self) -> bool:
        """Whether more than one rank did iterations."""
        return sum(figures.iterations > 0 for figures in self.per_rank) > 1


@dataclass(slots=True)
class Checks:
    """What was watched while the loop ran: the calls that the compiler has not seen, with their lines.

    ``runs`` counts the runs that ranks shared so, ``seconds`` is what looking took on rank 0, ``found`` says
    what has contradicted the plan.
    """

    calls: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    seconds: float = 0.0
    found: str = ""


@dataclass(slots=True)
class LoopRecord:
    """Totals over the runs of one loop; strategy, reason and windows are those of the last run.

    ``proof`` says on what the independence of its iterations rests. ``shared_s`` is each rank's computing
    time in the runs that ranks shared; runs of rank 0 alone had nothing to balance. ``planned`` is from the
    last run that has it, ``choice`` from the last of the ``choices`` runs in which a strategy was chosen.
    ``checks`` are those of the runs that were watched. The ``shared_runs`` on all ranks took
    ``shared_elapsed_s``; in ``alone_runs`` rank 0 ran the loop alone, the last time for ``alone_reason``.
    ``audited_s`` are the seconds of the ``audited_runs`` in which a strategy was chosen, as predicted and as
    measured, ``audited_bytes`` those of the work that moved; ``audited_imbalance`` is that of the last run
    whose shares were planned.
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
    checks: Checks = field(default_factory=Checks)
    shared_s: list[float] = field(default_factory=list)
    shared_runs: int = 0
    shared_elapsed_s: float = 0.0
    alone_runs: int = 0
    alone_reason: str = ""
    planned: PlannedShares | None = None
    gain: RedistributionGain = field(default_factory=RedistributionGain)
    windows: tuple[Window, ...] = ()
    rows_fetched: int = 0
    bytes_fetched: int = 0
    bytes_scattered: int = 0
    bytes_gathered: int = 0
    repeated_runs: int = 0
    audited_runs: int = 0
    audited_s: AuditedFigure = NOTHING
    audited_bytes: AuditedFigure = NOTHING
    audited_imbalance: AuditedFigure | None = None

    def __post_init__(self) -> None:
        if not self.per_rank:
            self.per_rank = [RankFigures()] * self.ranks
        if not self.shared_s:
            self.shared_s = [0.0] * self.ranks

    def add(self, run: RunStatistics) -> None:
        """Count one more run, or several; ValueError unless it has figures for each rank."""
        self.per_rank = [old + new for old, new in zip(self.per_rank, run.per_rank, strict=True)]
        self.runs += run.runs
        self.strategy, self.reason = run.strategy, run.reason
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(run, name))
        self.elapsed_s += run.elapsed_s
        if run.choice is not None:
            self.choice, self.choices = run.choice, self.choices + 1
            for strategy, seconds in run.choice.predicted_s:
                self.predicted_s[strategy] = self.predicted_s.get(strategy, 0.0) + seconds
        if (audited := run.audited_s) is not None:
            self.audited_s, self.audited_runs = self.audited_s + audited, self.audited_runs + 1
        self.audited_bytes += run.audited_bytes
        self.audited_imbalance = run.audited_imbalance or self.audited_imbalance
        self.windows = run.windows
        self.gain += run.gain
        if run.overhead_s is not None:
            self.overhead_s = (self.overhead_s or 0.0) + run.overhead_s
        if run.strategy != LOCAL:
            self.shared_runs += run.runs
            self.shared_elapsed_s += run.elapsed_s
        elif run.reason:
            self.alone_runs += 1
            self.alone_reason = run.reason
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
        """The object of the contract; keys after ``per_rank`` are there only if they have a value."""
        document: dict[str, object] = {name: getattr(self, name) for name in _ALWAYS}
        document["predicted_s"] = dict(self.predicted_s)
        document["per_rank"] = [asdict(figures) for figures in self.per_rank]
        document |= {name: getattr(self, name) for name in ("proof", "reason") if getattr(self, name)}
        if self.checks.calls:
            document["checks"] = asdict(self.checks)
        if self.overhead_s is not None:
            document["overhead_s"] = self.overhead_s
        if any(self.shared_s):
            document["imbalance"] = _imbalance(self.shared_s)
        if self.planned is not None and (planned := self.planned.as_json()):
            document["planned"] = planned
        if self.gain.redistributions:
            document["gain"] = asdict(self.gain)
        if audit := self._audit():
            document["audit"] = audit
        if self.repeated_runs:
            document["repeated_runs"] = self.repeated_runs
        if self.rows_fetched:
            document["rows_fetched"], document["bytes_fetched"] = self.rows_fetched, self.bytes_fetched
        if self.bytes_scattered or self.bytes_gathered:
            document["bytes_scattered"], document["bytes_gathered"] = (
                self.bytes_scattered,
                self.bytes_gathered,
            )
        if self.choice is not None:
            document["choice"] = {"runs": self.choices} | self.choice.record()
        if self.windows:
            document["windows"] = [asdict(window) for window in self.windows]
        return document

    def _audit(self) -> dict[str, object]:
        """What was predicted beside what was measured; empty where nothing was predicted."""
        found: dict[str, object] = {}
        if self.audited_runs:
            found["seconds"] = {"runs": self.audited_runs} | self.audited_s.record()
        if self.audited_imbalance is not None:
            found["imbalance"] = self.audited_imbalance.record()
        if self.audited_bytes.predicted:
            found["bytes_moved"] = self.audited_bytes.record()
        if self.gain.redistributions:
            found["gain_s"] = AuditedFigure(self.gain.predicted_s, self.gain.realised_s).record()
        return found


@dataclass(frozen=True, slots=True)
class SpeedFunctionPoints:
    """The points of each rank's speed function, from passes that ``loop`` led, and the model's name."""

    loop: str
    model: str
    points: tuple[SpeedPoints, ...]


@dataclass(frozen=True, slots=True)
class RoutineFigures:
    """One run of a routine: how often each loop, by id, ran, and what rank 0 fetched for sequential code.

    ``fetches`` counts messages, ``home_bytes`` their contents, including those at the routine's end.
    ``foreseen_runs`` are the runs of loops to which ranks came without being told one by one.
    ``passes`` has every look at passes, ``functions`` the speed points of each loop that led some.
    """

    runs: Mapping[str, int]
    fetches: int = 0
    home_bytes: int = 0
    foreseen_runs: int = 0
    passes: Sequence[PassRecord] = ()
    functions: Sequence[SpeedFunctionPoints] = ()


@dataclass(slots=True)
class RoutineRecord:
    """Totals over the runs of one routine; ``passes`` are the runs of its most frequent loop.

    ``latest`` is the last run, of which every pass is reported.
    """

    source: str
    runs: int = 0
    passes: int = 0
    loops: dict[str, int] = field(default_factory=dict)
    fetches: int = 0
    home_bytes: int = 0
    foreseen_runs: int = 0
    latest: RoutineFigures | None = None

    def add(self, figures: RoutineFigures) -> None:
        """Count one more run."""
        self.runs += 1
        self.passes += max(figures.runs.values(), default=0)
        for loop, runs in figures.runs.items():
            self.loops[loop] = self.loops.get(loop, 0) + runs
        self.fetches += figures.fetches
        self.home_bytes += figures.home_bytes
        self.foreseen_runs += figures.foreseen_runs
        self.latest = figures

    def as_json(self) -> dict[str, object]:
        """The object of the statistics."""
        from dlbrt.speed.points import encode

        document: dict[str, object] = asdict(replace(self, latest=None)) | {"loops": list(self.loops)}
        del document["latest"]
        latest = self.latest or RoutineFigures({})
        document["by_pass"] = [asdict(each) for each in latest.passes]
        document["speed_functions"] = [
            {"loop": each.loop, "model": each.model, "per_rank": encode(each.points)}
            for each in latest.functions
        ]
        return document


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
