"""A traced run as measured: what each rank did when, on rank 0's clock, and which work moved.

A run lasts from where the program met the loop until it went on behind it. Within it, each rank's time is
divided: ``prepare`` until the call has reached the rank, ``scatter`` until its rows have, then ``compute``,
``move``, ``synchronize`` and ``idle`` (`dlbrt.observe.trace_events.slices`). From its last event to that of
the last rank a rank is ``idle``, and then it is ``collect`` until rank 0 has all results. A simulated run has
neither beginning nor end of its own; it lasts from the first to the last thing that any rank did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dlbrt.balance.events import (
    FailureNotified,
    GroupReportsReceived,
    InstructionsReceived,
    ProfilesExchanged,
)
from dlbrt.observe.trace import RankTrace, RunTrace, Trace
from dlbrt.observe.trace_events import Arrow, Slice, arrows, slices
from dlbrt.records import dataclass

#: What a rank's time in a run consists of, in the order of its course.
ACTIVITIES = ("prepare", "scatter", "compute", "move", "synchronize", "idle", "collect")

#: Waiting for other ranks.
WAITING = ("synchronize", "idle")

#: Bringing calls, rows and results to where they are needed.
CARRYING = ("prepare", "scatter", "move", "collect")

#: Events at which a rank learns of a decision: of its own group, of another one, or of a failure.
_MARKS = (ProfilesExchanged, InstructionsReceived, GroupReportsReceived, FailureNotified)


@dataclass(frozen=True, slots=True)
class RankTimeline:
    """One rank: its slices in order, and the times at which it learned of a decision."""

    rank: int
    host: str
    slices: tuple[Slice, ...]
    marks: tuple[float, ...]

    def seconds(self, kind: str) -> float:
        """The time spent in one activity."""
        return sum(part.end - part.begin for part in self.slices if part.what == kind)

    @property
    def units(self) -> int:
        """The number of iterations, or pairs, that it computed."""
        return sum(part.amount for part in self.slices if part.what == "compute")


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run: all ranks, the work that moved, and its first and last time."""

    run: RunTrace
    rows: tuple[RankTimeline, ...]
    arrows: tuple[Arrow, ...]
    begin: float
    end: float

    @property
    def elapsed_s(self) -> float:
        """What the run took."""
        return self.end - self.begin

    @property
    def makespan_s(self) -> float:
        """From the first computing of any rank until the last one has nothing left to do or wait for."""
        parts = [part for row in self.rows for part in row.slices if part.what not in ("prepare", "collect")]
        began = [part.begin for part in parts if part.what != "scatter"]
        ends = [part.end for part in parts] + [mark for row in self.rows for mark in row.marks]
        return max(ends) - min(began) if began else 0.0

    @property
    def compute_s(self) -> tuple[float, ...]:
        """Each rank's seconds of computing."""
        return tuple(row.seconds("compute") for row in self.rows)

    @property
    def shared(self) -> bool:
        """Whether ranks shared the run."""
        return self.run.setup is not None

    def mean_s(self, kind: str) -> float:
        """The time in one activity, the mean of all ranks."""
        return sum(row.seconds(kind) for row in self.rows) / len(self.rows)


def unit_word(measured: Iterable[MeasuredRun]) -> str:
    """What a loop's ranks compute: its iterations, or in a folded loop pairs of them."""
    starts = [run.run.setup.start for run in measured if run.run.setup is not None]
    return "pairs of iterations" if any(start.context.units.folded for start in starts) else "iterations"


def measure_run(trace: Trace, run: RunTrace) -> MeasuredRun:
    """The timelines of a run; a rank that had no part in it is idle all the time."""
    rows = [_own(trace, run, rank) for rank in range(trace.ranks)]
    times = [t for row in rows for part in row.slices for t in (part.begin, part.end)]
    times += [mark for row in rows for mark in row.marks]
    begin, end = min(times, default=0.0), max(times, default=0.0)
    if run.started is not None:
        begin, end = run.started, max(run.started + run.elapsed_s, end)
    last = max((part.end for row in rows for part in row.slices), default=end)
    whole = tuple(replace(row, slices=tuple(_completed(row.slices, begin, last, end))) for row in rows)
    return MeasuredRun(run, whole, tuple(arrows(run, trace.offsets_s)), begin, end)


def _own(trace: Trace, run: RunTrace, rank: int) -> RankTimeline:
    """What a rank recorded of itself; its clock is ahead of rank 0's."""
    found = run.per_rank[rank] if rank < len(run.per_rank) else RankTrace(0.0)
    ahead_s = trace.offsets_s[rank]
    recorded = slices(found) if found.entries else []
    parts = (replace(part, begin=part.begin - ahead_s, end=part.end - ahead_s) for part in recorded)
    marks = (entry.event.now - ahead_s for entry in found.entries if isinstance(entry.event, _MARKS))
    return RankTimeline(rank, trace.host_names[rank], tuple(parts), tuple(marks))


def _completed(parts: tuple[Slice, ...], begin: float, last: float, end: float) -> Iterator[Slice]:
    """The slices, with what lies before the first and behind the last; ``last`` is the end of any rank's."""
    if not parts:
        if end > begin:
            yield Slice("idle", begin, end)
        return
    if parts[0].begin > begin:
        yield Slice("prepare", begin, parts[0].begin)
    yield from parts
    if parts[-1].end < last:
        yield Slice("idle", parts[-1].end, last)
    if last < end:
        yield Slice("collect", last, end)
