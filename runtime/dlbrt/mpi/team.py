"""The ranks that run a loop, as one of them sees it: alone, or together with others (`dlbrt.mpi.driver`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from dlbrt.balance.events import Worked
from dlbrt.balance.messages import NO_FAILURE, RedistributionGain, Window
from dlbrt.chunks.statistics import RankStatistics
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.observe.recorder import Recorder

clock = time.perf_counter

Progress = Sequence[tuple[int, float]]


@dataclass(slots=True)
class RunCounters:
    """What one rank counts while it runs a loop; times in seconds, none contained in another.

    ``sync_s`` is spent on synchronizations that came while there was work, ``idle_s`` on waiting without
    work, ``decision_s`` on new shares and the choice of a strategy, ``movement_s`` on moving work,
    ``compile_s`` on compiling chunks or reading what was compiled, and ``begun_s`` between the call and the
    first iteration. The lowest rank of a group counts what the group has in common (``synchronizations``,
    ``redistributions``, ``windows``, ``gain``). ``bytes_predicted`` are ``bytes_moved`` by the bytes that an
    iteration has in the model. ``chunks`` are statistics of the time that units took, from one report to the
    next.
    """

    parts: list[range] = field(default_factory=list)
    compute_s: float = 0.0
    sync_s: float = 0.0
    idle_s: float = 0.0
    decision_s: float = 0.0
    movement_s: float = 0.0
    compile_s: float = 0.0
    begun_s: float = 0.0
    synchronizations: int = 0
    redistributions: int = 0
    iterations_moved: int = 0
    bytes_moved: int = 0
    bytes_predicted: float = 0.0
    windows: tuple[Window, ...] = ()
    gain: RedistributionGain = field(default_factory=RedistributionGain)
    chunks: RankStatistics = field(default_factory=RankStatistics)

    @property
    def done(self) -> Spans:
        """The positions done."""
        return Spans.of(*self.parts)

    def add(self, done: Spans, step: int) -> None:
        """Count more positions, dealt ``step`` apart; they may continue one of the last two parts."""
        for run in done.runs:
            for place in range(len(self.parts) - 1, max(-1, len(self.parts) - 3), -1):
                if (joined := _joined(self.parts[place], run, step)) is not None:
                    self.parts[place] = joined
                    break
            else:
                self.parts.append(run)


def _joined(part: range, run: range, step: int) -> range | None:
    """Both as one range of that step, if they make one; the run may lie above or below."""
    low, high = (part, run) if part.start < run.start else (run, part)
    stepped = all(len(r) == 1 or r.step == step for r in (low, high))
    return range(low.start, high[-1] + step, step) if stepped and low[-1] + step == high.start else None


class Team(Protocol):
    """The ranks that run a loop; ``recorder`` records what happens, where a trace is written."""

    figures: RunCounters
    recorder: Recorder | None

    @property
    def units(self) -> Units:
        """The units of work: iterations, or pairs of them."""

    @property
    def work(self) -> Spans:
        """The units that this rank still has to do."""

    @property
    def failed_at(self) -> int:
        """The lowest position known to have failed: from there on nothing is done."""

    @property
    def finished(self) -> bool:
        """Whether no rank has work left."""

    @property
    def ends_independently(self) -> bool:
        """Whether the body may have failed on another rank without this rank's knowledge."""

    def begin(self, units: int) -> None:
        """The next ``units`` of this rank's work, which it has not yet reported, are under way or done."""

    def end(self) -> None:
        """None is under way any more; called again without effect."""

    def worked(self, units: int, done: Spans, compute_s: float, progress: Progress = ()) -> None:
        """This rank did the next ``units`` of its work, positions ``done``, in ``compute_s`` seconds.

        ``progress`` holds units done and seconds taken at some polls in between.
        """

    def failed(self, position: int) -> None:
        """The body raised at ``position``; this rank's work below it is done."""

    def interrupted(self) -> bool:
        """Whether another rank asks for a synchronization before this rank's work is done."""

    def synchronize(self) -> None:
        """Take part in synchronizations until there is work, or none anywhere."""


class SingleRank:
    """One rank that does everything itself."""

    def __init__(self, work: Spans, recorder: Recorder | None = None) -> None:
        self.work = work
        self.recorder = recorder
        self.units = Units(0, NO_FAILURE)
        self.failed_at = NO_FAILURE
        self.ends_independently = False
        self.figures = RunCounters()

    @property
    def finished(self) -> bool:
        """Whether all is done."""
        return not self.work

    def begin(self, units: int) -> None:
        """Nothing: nobody is to be served."""

    def end(self) -> None:
        """Nothing."""

    def worked(self, units: int, done: Spans, compute_s: float, progress: Progress = ()) -> None:
        """Count ``done`` as done."""
        if self.recorder is not None:
            self.recorder.note(Worked(clock(), units, compute_s, progress))
        self.figures.add(done, self.work.runs[0].step)
        self.work = self.work.first(units)[1]
        self.figures.compute_s += compute_s

    def failed(self, position: int) -> None:  # noqa: ARG002
        """Drop the rest, as an exception ends a sequential loop."""
        self.work = Spans(())

    def interrupted(self) -> bool:
        """Never."""
        return False

    def synchronize(self) -> None:
        """Nothing to synchronize with."""
