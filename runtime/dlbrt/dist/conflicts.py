"""Whether iterations stay out of one another's way: an exact look at what each of them touches.

The law: no row that one iteration stores to is touched by another. First each iteration's own stores are
joined; then, sorted by their start, two of different iterations overlap if and only if two neighbours
do. Once stores are disjoint, those that a touched stretch meets are neighbours, found by bisection.
"""

from __future__ import annotations

import numpy as np

from dlbrt.dist.index_vector import IntegerArray
from dlbrt.dist.scattered import RowConflict, AccessTable, AccessTables, merged
from dlbrt.records import dataclass

__all__ = ["RowConflict", "find_conflict"]


@dataclass(frozen=True, slots=True, eq=False)
class _Stretches:
    """Rows starts..stops-1, of iteration ``positions``."""

    starts: IntegerArray
    stops: IntegerArray
    positions: IntegerArray

    def sorted(self) -> _Stretches:
        order = np.argsort(self.starts, kind="stable")
        return _Stretches(self.starts[order], self.stops[order], self.positions[order])


def find_conflict(tables: AccessTables, length: int, *, reads: bool = True) -> RowConflict | None:
    """A conflict, if there is one; ``reads`` False: among stores alone. Tables are looked at once."""
    key = length, reads
    if key not in tables.conflicts:
        tables.conflicts[key] = _find(tables, length, reads)
    return tables.conflicts[key]


def _find(tables: AccessTables, length: int, reads: bool) -> RowConflict | None:
    stores = _joined(tables.stored, length).sorted()
    overlap = np.flatnonzero(stores.starts[1:] < stores.stops[:-1])
    if len(overlap):
        place = int(overlap[0])
        return _conflict(stores.positions[place], stores.positions[place + 1], stores.starts[place + 1])
    if not reads or tables.touched is tables.stored or not len(stores.starts):
        return None
    return _met(_Stretches(*tables.touched.stretches()), stores)


def _met(touched: _Stretches, stores: _Stretches) -> RowConflict | None:
    """A stretch that meets the store of another iteration; the stores are disjoint and sorted."""
    first = np.searchsorted(stores.stops, touched.starts, side="right")
    after = np.searchsorted(stores.starts, touched.stops, side="left")
    some = np.flatnonzero(first < after)
    first, last = first[some], after[some] - 1
    owners = stores.positions
    changes = np.concatenate([[0], np.cumsum(owners[1:] != owners[:-1])])
    wrong = (owners[first] != touched.positions[some]) | (changes[first] != changes[last])
    if not wrong.any():
        return None
    place = int(np.flatnonzero(wrong)[0])
    position = touched.positions[some[place]]
    met = np.arange(first[place], last[place] + 1)
    store = met[owners[met] != position][0]
    return _conflict(position, owners[store], max(touched.starts[some[place]], stores.starts[store]))


def _conflict(one: np.int64, other: np.int64, row: np.int64) -> RowConflict:
    return RowConflict(int(min(one, other)), int(max(one, other)), int(row))


def _joined(table: AccessTable, length: int) -> _Stretches:
    """What each iteration touches as disjoint stretches: iterations side by side, each in its own lane."""
    starts, stops, positions = table.stretches()
    if len(table.starts) <= 1:
        return _Stretches(starts, stops, positions)
    lane = length + 2  # apart, so that the end of one lane does not touch the next
    starts, stops = merged(starts + positions * lane, stops + positions * lane)
    positions = starts // lane
    return _Stretches(starts - positions * lane, stops - positions * lane, positions)
