"""What is shown of one run of a loop: each rank's time by what it did, all on rank 0's clock."""

from __future__ import annotations

from dataclasses import replace

from dlbrt.core.events import FailureNotified, GroupReportsReceived, InstructionsReceived, ProfilesExchanged
from dlbrt.observe.trace import RunTrace, Trace
from dlbrt.observe.trace_events import Arrow, Slice, arrows, slices
from dlbrt.records import dataclass

__all__ = ["ACTIVITIES", "MeasuredRun", "RankTimeline", "measure_run"]

#: What a rank's time is made of.
ACTIVITIES = ("scatter", "compute", "move", "synchronize", "idle")

#: At these a group has come together, or has heard of what another did.
_MARKS = (ProfilesExchanged, InstructionsReceived, GroupReportsReceived, FailureNotified)


@dataclass(frozen=True, slots=True)
class RankTimeline:
    """One rank: its slices in order, and when it was told of a decision."""

    rank: int
    host: str
    slices: tuple[Slice, ...]
    marks: tuple[float, ...]

    def seconds(self, kind: str) -> float:
        """The time of one kind."""
        return sum(part.end - part.begin for part in self.slices if part.what == kind)

    @property
    def units(self) -> int:
        """How many iterations, or pairs, it did."""
        return sum(part.amount for part in self.slices if part.what == "compute")


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run: its ranks, the work that moved, and from when to when it went."""

    run: RunTrace
    rows: tuple[RankTimeline, ...]
    arrows: tuple[Arrow, ...]
    begin: float
    end: float

    @property
    def makespan_s(self) -> float:
        """From when the first rank began to compute to when the last one knew that nothing is left."""
        began = [part.begin for row in self.rows for part in row.slices if part.what != "scatter"]
        return self.end - min(began, default=self.end)

    @property
    def efficiency(self) -> float | None:
        """Mean over maximum of the ranks' computing times; None where none computed."""
        times = [row.seconds("compute") for row in self.rows]
        return sum(times) / len(times) / max(times) if any(times) else None


def measure_run(trace: Trace, run: RunTrace) -> MeasuredRun:
    """What is shown of a run; ranks that had no part in it are left out."""
    parts = [slices(rank) for rank in run.per_rank]
    ahead = trace.offsets_s
    moved = tuple(arrows(run, ahead))
    rows = tuple(
        RankTimeline(
            number,
            trace.host_names[number],
            tuple(
                replace(p, begin=p.begin - ahead[number], end=p.end - ahead[number]) for p in parts[number]
            ),
            tuple(e.event.now - ahead[number] for e in rank.entries if isinstance(e.event, _MARKS)),
        )
        for number, rank in enumerate(run.per_rank)
        if rank.entries
    )
    ends = [part.end for row in rows for part in row.slices] + [m for row in rows for m in row.marks]
    begins = [part.begin for row in rows for part in row.slices]
    return MeasuredRun(run, rows, moved, min(begins, default=0.0), max(ends, default=0.0))
