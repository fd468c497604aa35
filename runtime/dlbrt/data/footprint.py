"""Which rows of an array a set of iterations touches.

Subscripts are affine in the index value and index values are affine in the position, so a run of positions
touches an arithmetic progression of rows, which two evaluations give, whatever its length. Negative
subscripts count from the end, as in Python; those that Python refuses touch nothing. Whether two iterations
touch one row is a linear equation in two bounded integers, solved exactly.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import gcd
from operator import attrgetter
from typing import Any

import numpy as np

from dlbrt.data import runs as algebra
from dlbrt.data.index_vector import IndexVector
from dlbrt.data.spans import Spans
from dlbrt.records import dataclass

#: Sorted, disjoint ranges of rows with step >= 1.
Rows = tuple[range, ...]

_start = attrgetter("start")

#: From a value of the index variable to the subscript or subscripts it touches: here affine, and no slices.
SubscriptFunction = Callable[[int], int | slice | tuple[int | slice, ...]]


@dataclass(frozen=True, slots=True)
class IndexMap:
    """Index values of an iteration space: position p has the value start + p * step."""

    start: int
    step: int

    def value(self, position: int) -> int:
        """The index value at a position."""
        return self.start + position * self.step

    def values(self, positions: range) -> range:
        """The index values at positions."""
        at = self.start + positions.start * self.step
        return range(at, at + len(positions) * positions.step * self.step, positions.step * self.step)

    def vector(self, n: int) -> IndexVector:
        """The index values at the first n positions."""
        return IndexVector(np.arange(n, dtype=np.int64) * self.step + self.start)


@dataclass(frozen=True, slots=True)
class _Line:
    """Rows ``base + slope * p`` for the positions p in low..high, both included."""

    low: int
    high: int
    base: int
    slope: int

    def rows(self) -> range:
        ends = (self.base + self.slope * self.low, self.base + self.slope * self.high)
        count = self.high - self.low + 1 if self.slope else 1
        return algebra.make(min(ends), count, abs(self.slope))


def rows_of(spans: Spans, index: IndexMap, subscripts: SubscriptFunction | None, length: int) -> Rows:
    """The rows of an array of ``length`` rows that iterations touch; ``subscripts`` None: the index value.

    ValueError if the subscripts turn out not to be affine.
    """
    return _normal([line.rows() for run in spans.runs for line in _lines(run, index, subscripts, length)])


def stores_are_distinct(n: int, index: IndexMap, subscripts: SubscriptFunction | None, length: int) -> bool:
    """Whether no two of n iterations touch one row; one iteration may touch a row more than once.

    Exact, in time independent of n.
    """
    if n < 2:
        return True
    lines = list(_lines(range(n), index, subscripts, length))
    if any(line.slope == 0 and line.low < line.high for line in lines):
        return False
    return not any(_meet(one, other) for one, other in combinations(lines, 2))


def stores_are_apart(
    n: int, index: IndexMap, stored: SubscriptFunction | None, touched: SubscriptFunction | None, length: int
) -> bool:
    """Whether no row that one of n iterations stores to is touched by another of them.

    The stores are distinct (`stores_are_distinct`). Exact, in time independent of n.
    """
    if n < 2:
        return True
    stores = list(_lines(range(n), index, stored, length))
    lines = _lines(range(n), index, touched, length)
    return not any(_cross(line, store) for line in lines for store in stores)


def count(rows: Rows) -> int:
    """The number of rows."""
    return sum(map(len, rows))


def union(a: Rows, b: Rows) -> Rows:
    """The rows of either."""
    if not a or not b or a == b:
        return a or b
    if len(a) == len(b) == 1 and a[0].step == b[0].step == 1:  # the common case
        (one,), (other,) = a, b
        if one.start <= other.stop and other.start <= one.stop:
            return (range(min(one.start, other.start), max(one.stop, other.stop)),)
    return _normal([*a, *b])


def difference(a: Rows, b: Rows) -> Rows:
    """The rows of a that are not rows of b."""
    if not a or not b:
        return a
    found: list[range] = []
    if all(run.step == 1 for run in (*a, *b)):  # the common case
        for run in a:
            left = run.start
            for other in b:
                if left < other.start < run.stop:
                    found.append(range(left, other.start))
                if other.start < run.stop:
                    left = max(left, other.stop)
            if left < run.stop:
                found.append(range(left, run.stop))
        return tuple(found)
    for low, high, (mine, theirs) in algebra.segments([a, b], a[0].start, _end(a)):
        found += _selected(low, high, mine, theirs)
    return algebra.coalesce(sorted(found, key=_start))


def intersection(a: Rows, b: Rows) -> Rows:
    """The rows of both."""
    if not a or not b or a[0].start >= _end(b) or b[0].start >= _end(a):
        return ()
    if len(a) == len(b) == 1 and a[0].step == b[0].step == 1:  # the common case
        both = range(max(a[0].start, b[0].start), min(a[0].stop, b[0].stop))
        return (both,) if both else ()
    return difference(a, difference(a, b))


def _end(rows: Iterable[range]) -> int:
    return max(run.stop for run in rows)


def _normal(found: Iterable[range]) -> Rows:
    """Non-empty ranges in normal form, which may overlap, as sorted and disjoint rows."""
    merged = [run for cluster in _clusters(sorted(found, key=_start)) for run in _merged(cluster)]
    return algebra.coalesce(sorted(merged, key=_start))


def _clusters(ranges: Sequence[range]) -> Iterator[list[range]]:
    """Sorted ranges in groups whose extents overlap or touch."""
    cluster: list[range] = []
    reached = 0
    for run in ranges:
        if cluster and run.start > reached:
            yield cluster
            cluster = []
        reached = max(reached, run.stop) if cluster else run.stop
        cluster.append(run)
    if cluster:
        yield cluster


def _merged(cluster: list[range]) -> Sequence[range]:
    """The rows of one cluster, disjoint: an interval, residue classes of one step, or segment by segment."""
    steps = {run.step for run in cluster}
    if len(cluster) == 1:
        return cluster
    if steps == {1}:
        return [range(cluster[0].start, _end(cluster))]
    classes = {run.start % run.step for run in cluster}
    if len(steps) == 1 and len(classes) < cluster[0].step:
        return _by_class(cluster)
    cut = algebra.segments([cluster], cluster[0].start, _end(cluster))
    return [run for begin, end, (active,) in cut for run in _selected(begin, end, active, [])]


def _by_class(cluster: list[range]) -> list[range]:
    """Ranges of one step, sorted by start: joined where they overlap or continue in one residue class."""
    joined: list[range] = []
    places: dict[int, int] = {}
    for run in cluster:
        place = places.get(run.start % run.step)
        if place is not None and run.start <= joined[place][-1] + run.step:
            head = joined[place]
            joined[place] = range(head.start, max(head.stop, run.stop), run.step)
        else:
            places[run.start % run.step] = len(joined)
            joined.append(run)
    return joined


def _selected(low: int, high: int, mine: list[range], theirs: list[range]) -> list[range]:
    """The rows of a segment that are in ``mine`` and not in ``theirs``."""
    if not mine:
        return []
    if len(mine) == 1 and not theirs:
        return [algebra.normal(part) for part in (algebra.clip(mine[0], low, high),) if part]
    width = algebra.period(low, high, [*mine, *theirs])
    present = algebra.pattern(low, width, mine, theirs)
    if not present.count(0):
        return [range(low, high)]
    blocks = [range(low + found.start(), low + found.end()) for found in re.finditer(rb"[^\0]+", present)]
    if width == high - low:
        return blocks
    return [algebra.normal(range(row, high, width)) for rows in blocks for row in rows]


def _lines(run: range, index: IndexMap, subscripts: SubscriptFunction | None, length: int) -> Iterator[_Line]:
    """The progressions of rows that a run touches, by place in the run, cut where subscripts wrap or end."""
    steps = len(run) - 1
    ends = (_values(subscripts, index.value(run[0])), _values(subscripts, index.value(run[-1])))
    for first, last in zip(*ends, strict=True):
        slope, rest = divmod(last - first, steps) if steps else (0, 0)
        if rest:
            raise ValueError(f"expected affine subscripts, found {first} and {last}, {steps} steps apart")
        for base in (first, first + length):  # as is, and -length..-1 raised by the length
            if cut := _within(base, slope, length, steps):
                yield _Line(*cut, base, slope)


def _values(subscripts: SubscriptFunction | None, value: int) -> tuple[int, ...]:
    found: Any = value if subscripts is None else subscripts(value)
    return tuple(map(operator.index, found)) if isinstance(found, tuple) else (operator.index(found),)


def _within(base: int, slope: int, length: int, steps: int) -> tuple[int, int] | None:
    """First and last of the positions 0..steps at which 0 <= base + slope * p < length."""
    if slope == 0:
        return (0, steps) if 0 <= base < length else None
    below, above = (-base, length - 1 - base) if slope > 0 else (base - length + 1, base)
    first, last = max(0, -(-below // abs(slope))), min(steps, above // abs(slope))
    return (first, last) if first <= last else None


def _cross(line: _Line, store: _Line) -> bool:
    """Whether positions p and q, p != q, of the lines have the same row; the store's slope is not 0."""
    if line.slope:
        return _meet(line, store)
    q, rest = divmod(line.base - store.base, store.slope)
    return rest == 0 and store.low <= q <= store.high and not line.low == q == line.high


def _meet(one: _Line, other: _Line) -> bool:
    """Whether positions p and q, p != q, of the lines have the same row; their slopes are not 0.

    All solutions of ``a p - b q = c`` are p = p0 + (b/g) t, q = q0 + (a/g) t; the bounds on p and q give an
    interval of t, and p = q holds for all t or none (a = b), or for one t.
    """
    a, b, c = one.slope, other.slope, other.base - one.base
    g = gcd(a, b)
    if c % g:
        return False
    p0 = (c // g) * pow(a // g, -1, abs(b // g))
    q0 = (a * p0 - c) // b
    from_p, from_q = _parameters(one, p0, b // g), _parameters(other, q0, a // g)
    low, high = max(from_p[0], from_q[0]), min(from_p[1], from_q[1])
    if low > high or a == b:
        return low <= high and p0 != q0
    same, off = divmod(q0 - p0, (b - a) // g)
    return low < high or off != 0 or same != low


def _parameters(line: _Line, origin: int, slope: int) -> tuple[int, int]:
    """The first and last t for which origin + slope * t is a position of the line."""
    below, above = line.low - origin, line.high - origin
    if slope < 0:
        below, above, slope = -above, -below, -slope
    return -(-below // slope), above // slope
