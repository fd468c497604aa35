"""Access tables, for subscripts that are not affine: the rows that each iteration touches.

Subscripts such as ``ix[i]`` or ``ptr[i]:ptr[i + 1]`` are evaluated once for all iterations before the loop,
as by an inspector (Saltz et al., PARTI/CHAOS). The table holds a stretch of rows for each subscript and
position; the rows of a share are found by sorting its stretches.

All iterations are evaluated at once where that means the same (`dlbrt.data.index_vector`), which is checked
by evaluating a few of them one by one; otherwise each is evaluated by itself. A subscript counts as Python's
own does: a negative one from the end, one out of range touches nothing, a slice is cut to the array. A slice
with a negative start and no negative stop is refused: it may stand for the rows of an inner loop, which
Python would wrap.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from dlbrt.data.footprint import IndexMap, Rows, SubscriptFunction
from dlbrt.data.index_vector import IndexVector, IntegerArray
from dlbrt.data.spans import Spans
from dlbrt.records import dataclass

#: More rows than any array has; subscripts beyond it are replaced by it.
_BEYOND = 1 << 62

#: Up to this many iterations are evaluated one by one.
_SHORT = 64

_Column = tuple[IntegerArray, IntegerArray]


@dataclass(frozen=True, slots=True, eq=False)
class AccessTable:
    """Position p touches rows ``starts[k, p]`` to ``stops[k, p] - 1`` for each subscript k.

    Without ``stops`` it touches the single row ``starts[k, p]``, or nothing where that is -1.
    """

    starts: IntegerArray
    stops: IntegerArray | None = None

    @classmethod
    def of(cls, columns: Sequence[tuple[IntegerArray, IntegerArray]]) -> AccessTable:
        """The table of columns of starts and stops within the array; an empty stretch touches nothing."""
        starts = np.stack([start for start, _ in columns])
        stops = np.stack([stop for _, stop in columns])
        if (stops - starts).max(initial=0) > 1:
            return cls(starts, stops)
        return cls(np.where(stops > starts, starts, -1))

    @classmethod
    def loaded(cls, arrays: Sequence[IntegerArray]) -> AccessTable:
        """The table whose `arrays` these are."""
        return cls(*arrays)

    @property
    def arrays(self) -> list[IntegerArray]:
        """The table as arrays."""
        return [self.starts] if self.stops is None else [self.starts, self.stops]

    def same(self, other: AccessTable) -> bool:
        """Whether the other table is equal."""
        pairs = zip(self.arrays, other.arrays, strict=False)
        return len(self.arrays) == len(other.arrays) and all(np.array_equal(*pair) for pair in pairs)

    def mean(self) -> float:
        """The mean number of rows that an iteration touches."""
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
    """Two positions that both touch a row, which at least one of them stores to."""

    first: int
    second: int
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class AccessTables:
    """What the iterations of a loop touch of one array, and what they store to.

    ``conflicts`` caches the results of `dlbrt.data.hazard`, by the array's length and whether reads counted.
    """

    touched: AccessTable
    stored: AccessTable
    conflicts: dict[tuple[int, bool], RowConflict | None] = field(default_factory=dict, repr=False)

    def same(self, other: AccessTables) -> bool:
        """Whether the other tables are equal."""
        return self.touched.same(other.touched) and self.stored.same(other.stored)


def merged(starts: IntegerArray, stops: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
    """The union of non-empty stretches, as sorted stretches that neither overlap nor touch."""
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
    """Distinct sorted rows as ranges: a single one where they are equidistant."""
    if not len(rows):
        return ()
    gaps = np.diff(rows)
    if len(rows) > 1 and (gaps == gaps[0]).all():
        return (range(int(rows[0]), int(rows[-1]) + 1, int(gaps[0])),)
    cut = np.flatnonzero(gaps != 1)
    return _ranges(rows[np.append(0, cut + 1)], rows[np.append(cut, len(rows) - 1)] + 1)


def _ranges(starts: IntegerArray, stops: IntegerArray) -> Rows:
    return tuple(map(range, starts.tolist(), stops.tolist()))


class FootprintError(ValueError):
    """What an iteration touches is not known before the loop; the message says why."""


@dataclass(frozen=True, slots=True)
class ItemMap:
    """What the iterations take from the sequences that the loop runs over, by position."""

    items: Sequence[Any]

    def value(self, position: int) -> Any:
        """The item at a position."""
        return self.items[position]

    def vector(self, n: int) -> Any:
        """The first n items at once. TypeError where they are not integers, or tuples of integers."""
        array = np.asarray(self.items[:n])
        if array.dtype.kind not in "iu":
            raise TypeError("items that are no integers")
        array = array.astype(np.int64, copy=False)
        return IndexVector(array) if array.ndim == 1 else tuple(map(IndexVector, array.T))


#: What subscripts are functions of.
Given = IndexMap | ItemMap


def evaluate(subscripts: SubscriptFunction | None, index: Given, n: int, length: int) -> AccessTable:
    """The rows of an array of ``length`` rows that each of n iterations touches.

    FootprintError where a subscript raises, or is neither an integer nor a slice without step.
    """
    found = None if n <= _SHORT else _at_once(subscripts or operator.pos, index, n, length)
    return found or _one_by_one(subscripts or operator.pos, index, range(n), length)


def _at_once(subscripts: SubscriptFunction, index: Given, n: int, length: int) -> AccessTable | None:
    """The table by vectors; None where vectors do not apply."""
    try:
        values = index.vector(n)
        with np.errstate(all="ignore"):
            found: Any = subscripts(values)  # type: ignore[arg-type]
        items = found if isinstance(found, tuple) else (found,)
        table = AccessTable.of([_column(item, n, length) for item in items])
    except Exception:  # evaluating one by one shows whether the subscript itself raises
        return None
    return table if _agrees(table, subscripts, index, n, length) else None


def _agrees(table: AccessTable, subscripts: SubscriptFunction, index: Given, n: int, length: int) -> bool:
    """Whether the table agrees with the first, middle and last iteration evaluated by themselves."""
    sample = [0, n // 2, n - 1]
    alone = _one_by_one(subscripts, index, sample, length)
    stops = table.starts + (table.starts >= 0) if table.stops is None else table.stops
    other = alone.starts + (alone.starts >= 0) if alone.stops is None else alone.stops
    filled = stops[:, sample] > table.starts[:, sample]
    if alone.starts.shape != filled.shape or not np.array_equal(filled, other > alone.starts):
        return False
    pairs = ((table.starts[:, sample], alone.starts), (stops[:, sample], other))
    return all(np.array_equal(one[filled], two[filled]) for one, two in pairs)


def _one_by_one(
    subscripts: SubscriptFunction, index: Given, positions: Sequence[int], length: int
) -> AccessTable:
    rows: list[tuple[Any, ...]] = []
    value = 0
    try:
        for position in positions:
            value = index.value(position)
            found: Any = subscripts(value)
            rows.append(found if isinstance(found, tuple) else (found,))
    except Exception as error:  # a subscript of the program may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise FootprintError(
            f"what iteration {value} touches is not known before it runs ({reason})"
        ) from error
    width = max(map(len, rows), default=0)
    padded = [row if len(row) == width else (*row, *[slice(0, 0)] * (width - len(row))) for row in rows]
    columns = [_listed(column, length) for column in zip(*padded, strict=True)]
    return AccessTable.of(columns) if columns else AccessTable(np.empty((0, len(rows)), np.int64))


def _listed(items: Sequence[Any], length: int) -> _Column:
    """Starts and stops of one subscript, evaluated for each iteration by itself."""
    kinds = set(map(type, items))
    if slice not in kinds:
        return _rows_of_integers(_vector(items), length)
    if kinds == {slice}:
        for item in items:
            _check_step(item)
        starts = _vector([0 if item.start is None else item.start for item in items])
        return _rows_of_slices(starts, _vector([_stop(item) for item in items]), length)
    columns = [_listed([item], length) for item in items]
    return np.concatenate([c[0] for c in columns]), np.concatenate([c[1] for c in columns])


def _column(item: Any, n: int, length: int) -> _Column:
    """Starts and stops of one subscript, evaluated for all n iterations at once."""
    if isinstance(item, slice):
        _check_step(item)
        starts = _spread(0 if item.start is None else item.start, n)
        return _rows_of_slices(starts, _spread(_stop(item), n), length)
    return _rows_of_integers(_spread(item, n), length)


def _stop(item: slice) -> Any:
    return _BEYOND if item.stop is None else item.stop


def _check_step(item: slice) -> None:
    if item.step is not None and item.step != 1:
        raise FootprintError(f"expected slices without a step as subscripts, found {item}")


def _spread(item: Any, n: int) -> IntegerArray:
    """One value for each position; TypeError if the values are not integers."""
    if isinstance(item, IndexVector):
        return item.values
    if not isinstance(item, np.ndarray):
        return np.full(n, max(-_BEYOND, min(_BEYOND, operator.index(item))), dtype=np.int64)
    if item.shape != (n,) or item.dtype.kind not in "iu" or item.dtype == np.uint64:
        raise TypeError(f"expected {n} integers, found {item.dtype} of shape {item.shape}")
    return np.clip(item.astype(np.int64), -_BEYOND, _BEYOND)


def _vector(items: Sequence[Any]) -> IntegerArray:
    """Integers of any kind and size in 64 bits; FootprintError if any item is not an integer."""
    try:
        found = np.fromiter(map(operator.index, items), dtype=np.int64, count=len(items))
    except OverflowError:
        within = (max(-_BEYOND, min(_BEYOND, operator.index(item))) for item in items)
        return np.fromiter(within, dtype=np.int64, count=len(items))
    except TypeError as error:
        raise FootprintError(f"expected integers and slices as subscripts ({error})") from error
    return found.clip(-_BEYOND, _BEYOND)


def _rows_of_integers(values: IntegerArray, length: int) -> _Column:
    starts = np.where(values < 0, values + length, values)
    inside = (starts >= 0) & (starts < length)
    starts = np.where(inside, starts, 0)
    return starts, starts + inside


def _rows_of_slices(starts: IntegerArray, stops: IntegerArray, length: int) -> _Column:
    # Rows -2 to 0 of an inner loop are three, the slice -2:1 is none: which of them is meant is not known
    # here.
    crossing = (starts < 0) & (stops >= 0) & (stops < _BEYOND)
    if crossing.any():
        found = int(np.flatnonzero(crossing)[0])
        raise FootprintError(f"rows {starts[found]} to {stops[found]} lie on both sides of the array's ends")
    starts, stops = (np.clip(np.where(ends < 0, ends + length, ends), 0, length) for ends in (starts, stops))
    return starts, np.maximum(starts, stops)
