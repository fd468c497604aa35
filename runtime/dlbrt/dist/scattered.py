"""Rows that follow no line: a table of what each iteration touches, and the rows of any set of them.

Subscripts such as ``ix[i]`` or ``ptr[i]:ptr[i + 1]`` are evaluated once for all iterations, before the loop.
The table holds for each subscript and position a stretch of rows; the rows of a share are found by
sorting its stretches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from dlbrt.dist.footprint import Rows
from dlbrt.dist.index_vector import IntegerArray
from dlbrt.dist.spans import Spans
from dlbrt.records import dataclass

__all__ = ["RowConflict", "AccessTable", "AccessTables", "merged"]


@dataclass(frozen=True, slots=True, eq=False)
class AccessTable:
    """Position p touches rows ``starts[k, p]`` to ``stops[k, p] - 1`` for each subscript k.

    ``stops`` None: the one row ``starts[k, p]``, or nothing where that is -1.
    """

    starts: IntegerArray
    stops: IntegerArray | None = None

    @classmethod
    def of(cls, columns: Sequence[tuple[IntegerArray, IntegerArray]]) -> AccessTable:
        """A table of columns of starts and stops, within the array; an empty stretch touches nothing."""
        starts = np.stack([start for start, _ in columns])
        stops = np.stack([stop for _, stop in columns])
        if (stops - starts).max(initial=0) > 1:
            return cls(starts, stops)
        return cls(np.where(stops > starts, starts, -1))

    @classmethod
    def loaded(cls, arrays: Sequence[IntegerArray]) -> AccessTable:
        """The table that `arrays` gave."""
        return cls(*arrays)

    @property
    def arrays(self) -> list[IntegerArray]:
        """The table as arrays."""
        return [self.starts] if self.stops is None else [self.starts, self.stops]

    def same(self, other: AccessTable) -> bool:
        """Whether the other table says the same."""
        pairs = zip(self.arrays, other.arrays, strict=False)
        return len(self.arrays) == len(other.arrays) and all(np.array_equal(*pair) for pair in pairs)

    def mean(self) -> float:
        """Rows that an iteration touches, in the mean."""
        found = (self.starts >= 0).sum() if self.stops is None else (self.stops - self.starts).sum()
        return int(found) / max(1, int(self.starts.shape[1]))

    def rows(self, spans: Spans) -> Rows:
        """The rows that the iterations touch."""
        if not spans:
            return ()
        starts = _picked(self.starts, spans)
        if self.stops is None:
            return _single(np.unique(starts[starts >= 0]))
        stops = _picked(self.stops, spans)
        some = stops > starts
        return _ranges(*merged(starts[some], stops[some]))

    def stretches(self) -> tuple[IntegerArray, IntegerArray, IntegerArray]:
        """Starts, stops and positions of all stretches that are not empty."""
        positions = np.broadcast_to(np.arange(self.starts.shape[1]), self.starts.shape)
        stops = self.starts + 1 if self.stops is None else self.stops
        some = (stops > self.starts) & (self.starts >= 0)
        return self.starts[some], stops[some], positions[some]


@dataclass(frozen=True, slots=True)
class RowConflict:
    """Two positions that both touch a row which at least one of them stores to."""

    first: int
    second: int
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class AccessTables:
    """What the iterations of a loop touch of one array, and what they store to.

    ``conflicts`` remembers what `dlbrt.dist.conflicts` found: by the array's rows, and whether reads counted.
    """

    touched: AccessTable
    stored: AccessTable
    conflicts: dict[tuple[int, bool], RowConflict | None] = field(default_factory=dict, repr=False)

    def same(self, other: AccessTables) -> bool:
        """Whether the other tables say the same."""
        return self.touched.same(other.touched) and self.stored.same(other.stored)


def merged(starts: IntegerArray, stops: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
    """The union of non-empty stretches as disjoint ones that do not touch, sorted."""
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    reached = np.maximum.accumulate(stops[order])
    first = np.ones(len(starts), dtype=bool)
    first[1:] = starts[1:] > reached[:-1]
    last = np.ones(len(starts), dtype=bool)
    last[:-1] = first[1:]
    return starts[first], reached[last]


def _picked(table: IntegerArray, spans: Spans) -> IntegerArray:
    cut = [table[:, run.start : run.stop : run.step].ravel() for run in spans.runs]
    return cut[0] if len(cut) == 1 else np.concatenate(cut)


def _single(rows: IntegerArray) -> Rows:
    """Sorted rows, each once; those at one distance are one range."""
    if not len(rows):
        return ()
    gaps = np.diff(rows)
    if len(rows) > 1 and (gaps == gaps[0]).all():
        return (range(int(rows[0]), int(rows[-1]) + 1, int(gaps[0])),)
    cut = np.flatnonzero(gaps != 1)
    return _ranges(rows[np.append(0, cut + 1)], rows[np.append(cut, len(rows) - 1)] + 1)


def _ranges(starts: IntegerArray, stops: IntegerArray) -> Rows:
    return tuple(map(range, starts.tolist(), stops.tolist()))
