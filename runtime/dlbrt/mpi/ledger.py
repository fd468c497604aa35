"""What rank 0 remembers of each loop: figures for the statistics, and costs that decide its next run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from dlbrt.dist.scattered import Tables
from dlbrt.mpi.team import Figures, clock
from dlbrt.observe.linemap import Frame, original, proof_of
from dlbrt.observe.statistics import LoopRecord, LoopRun, RankFigures, report, write

__all__ = ["Ledger", "Notes"]


class Notes:
    """One loop: its statistics, and what its earlier runs cost.

    ``chunk`` is the chunk size to begin with. ``iteration_s`` is the mean computing time of an
    iteration at the last run, ``overhead_s`` what the last run on all ranks took beyond computing.
    ``tables`` are what the iterations touched of arrays whose subscripts were looked at, by name.
    """

    def __init__(self, key: str, source: str, ranks: int) -> None:
        self.key = key
        self.source = source
        self.record = LoopRecord(key, source, ranks)
        self.chunk = 1
        self.tables: dict[str, Tables] = {}
        self._iteration_s: float | None = None
        self._overhead_s = 0.0
        self._remarks: set[str] = set()

    def trial_s(self, iterations: int) -> float | None:
        """How long rank 0 may try to do the loop alone; None where all ranks should take part at once.

        The loop is small if by its last run all of it takes less computing than sharing it costs. The
        trial is bounded by that cost, so that an iteration which got dearer loses little.
        """
        if self._iteration_s is None or iterations * self._iteration_s > self._overhead_s:
            return None
        return self._overhead_s

    def learn(
        self, figures: Sequence[Figures], elapsed_s: float, iterations: int, strategy: str, reason: str
    ) -> None:
        """Take in one run: the figures of rank 0 alone, or of all ranks."""
        overhead_s = max(0.0, elapsed_s - max(f.compute_s for f in figures))
        if iterations:
            self._iteration_s = sum(f.compute_s for f in figures) / iterations
        if len(figures) > 1:
            self._overhead_s = overhead_s
        idle = [RankFigures()] * (self.record.ranks - len(figures))
        self.record.add(
            LoopRun(
                strategy,
                sum(len(f.done) for f in figures),
                elapsed_s,
                (*map(_rank_figures, figures), *idle),
                figures[0].synchronizations,
                figures[0].redistributions,
                sum(f.iterations_moved for f in figures),
                sum(f.bytes_moved for f in figures),
                reason=reason,
                overhead_s=overhead_s,
            )
        )

    def remark(self, reason: str) -> None:
        """Say once on standard error why this loop is run by rank 0 alone."""
        if reason not in self._remarks:
            self._remarks.add(reason)
            print(f"dlb: {self.source}: run by rank 0 alone: {reason}", file=sys.stderr, flush=True)


class Ledger:
    """The notes of all loops of a program, in the order in which they first ran."""

    def __init__(self, ranks: int, host_names: Sequence[str]) -> None:
        self._ranks = ranks
        self._host_names = host_names
        self._started = clock()
        self._notes: dict[tuple[str, str], Notes] = {}

    def notes(self, kernel: Callable[..., None]) -> Notes:
        """The notes of the loop of that kernel."""
        code = kernel.__code__
        key = (code.co_filename, code.co_name)
        if key not in self._notes:
            frame = Frame(code.co_filename, code.co_firstlineno, code.co_name)
            place = original(frame) or frame
            source = f"{os.path.basename(place.filename)}:{place.line}"
            self._notes[key] = Notes(str(len(self._notes) + 1), source, self._ranks)
            self._notes[key].record.proof = proof_of(*key)
        return self._notes[key]

    def write(self, path: str) -> None:
        """Write the statistics; a path that cannot be written is reported and ends nothing."""
        records = [notes.record for notes in self._notes.values()]
        try:
            write(path, report(records, self._ranks, self._host_names, clock() - self._started))
        except OSError as error:
            print(f"dlb: the statistics could not be written: {error}", file=sys.stderr, flush=True)


def _rank_figures(figures: Figures) -> RankFigures:
    return RankFigures(len(figures.done), figures.compute_s, figures.sync_s, figures.idle_s)
