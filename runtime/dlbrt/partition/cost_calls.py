"""How what users write as a cost is called, and what is wrong with a number that it gives.

An expression over the index variable is evaluated for many iterations at once where that means the same:
with a vector of floats, or of integers where floats do not do (they are no subscripts), and else value by
value. A vector may mean something else than its values do (``min(i, 5)`` raises, ``i in others`` may not,
``1 << i`` overflows unseen), so of each vector some values are computed alone and compared. NumPy's warnings
are kept in: what they warn of shows in the numbers, which are all looked at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np

from dlbrt.data.footprint import IndexMap
from dlbrt.data.layout import Floats
from dlbrt.partition.cost_spec import CostError
from dlbrt.partition.cost_values import (
    RAISED,
    as_number,
    checked,
    first_bad,
    quiet,
    raised,
    shown,
    spread,
    wide,
)

#: Integers up to this are doubles.
_EXACT = 1 << 53

#: What is added where a cumulative cost takes integers only.
_BETWEEN = (
    "; it is asked for between the loop's values too, and where the last iteration ends "
    "(a cost of each iteration, cost(EXPR), is summed by itself)"
)

#: How far a number computed in a vector may be from the same computed alone: rounding, and no more.
_AGREEMENT = 1e-6


class Densities(ABC):
    """The work of iterations one by one, 0 or more and finite each, in any unit."""

    @abstractmethod
    def of(self, runs: Iterable[range]) -> Iterator[Floats]:
        """The works of ascending, disjoint runs of positions with step 1; CostError for a bad one."""


class _Way(Enum):
    """What a function of the index variable is called with."""

    FLOATS = auto()
    INTEGERS = auto()
    ONE_BY_ONE = auto()


class IndexDensity(Densities):
    """Work as a function of the index variable."""

    def __init__(self, function: Callable[[Any], Any], index: IndexMap) -> None:
        self._function = function
        self._index = index
        self._name = parameter(function)
        self._way = _Way.FLOATS

    def of(self, runs: Iterable[range]) -> Iterator[Floats]:
        """As `Densities.of`."""
        for run in runs:
            first, after = self._index.value(run.start), self._index.value(run.stop)
            with quiet():
                found = self._works(range(first, after, self._index.step))
            yield found

    def _works(self, values: range) -> Floats:
        if max(abs(values[0]), abs(values[-1])) >= _EXACT:
            self._way = _Way.ONE_BY_ONE
        while len(values) > 1 and self._way is not _Way.ONE_BY_ONE:
            found = self._at_once(values)
            if found is not None and self._agrees(found, values):
                return found
        return np.fromiter(map(self._alone, values), np.float64, len(values))

    def _at_once(self, values: range) -> Floats | None:
        """The works by a vector; None, and another way from now on, where it does not do."""
        vector = np.arange(len(values), dtype=np.int64) * values.step + values.start
        try:
            found = self._function(vector if self._way is _Way.INTEGERS else vector.astype(np.float64))
        except (IndexError, TypeError):
            self._way = _Way.INTEGERS if self._way is _Way.FLOATS else _Way.ONE_BY_ONE
            return None
        except RAISED:  # whatever it is, one by one will show whether it is the expression's own
            self._way = _Way.ONE_BY_ONE
            return None
        works = spread(found, len(values))
        if works is None:
            self._way = _Way.ONE_BY_ONE
        return works

    def _agrees(self, works: Floats, values: range) -> bool:
        """Whether the first, middle and last work are the same when alone; CostError for one that is bad."""
        bad = first_bad(works)
        try:
            same = all(
                self._close(works[k], values[k]) for k in bad or (0, len(values) // 2, len(values) - 1)
            )
        except CostError:
            if bad:
                raise
            same = False  # one by one will find the first
        if not same:
            self._way = _Way.ONE_BY_ONE
        return same

    def _close(self, work: float, value: int) -> bool:
        alone = self._alone(value)
        return bool(abs(work - alone) <= _AGREEMENT * alone)

    def _alone(self, value: int) -> float:
        try:
            found = self._function(value)
        except RAISED as error:  # it is the user's expression: anything may come
            raise raised("cost", error, f"at {self._name} = {value}") from error
        if type(found) in (int, float) and 0 <= found < _EXACT:  # the rule, and quick
            return float(found)
        return checked(found, f"at {self._name} = {value}")


class ItemDensity(Densities):
    """Work as a function of the loop's items: ``each`` makes some of them into a list of their works."""

    def __init__(
        self,
        each: Callable[[Iterable[Any]], Sequence[Any]],
        items: Callable[[], Iterator[Any]],
        index: IndexMap | None,
    ) -> None:
        self._each = each
        self._items = items
        self._index = index

    def of(self, runs: Iterable[range]) -> Iterator[Floats]:
        """As `Densities.of`; the items are gone through once."""
        items, reached = self._items(), 0
        for run in runs:
            chunk = list(islice(items, run.start - reached, run.stop - reached))
            reached = run.stop
            if len(chunk) < len(run):
                raise CostError(f"expected {run.stop} items, found {run.start + len(chunk)}")
            with quiet():
                found = self._works(chunk, run.start)
            yield found

    def _works(self, chunk: list[Any], first: int) -> Floats:
        try:
            found = list(self._each([wide(item) for item in chunk]))
        except RAISED as error:  # it is the user's expression: anything may come
            raise self._located(error, chunk, first) from error
        if len(found) != len(chunk):
            raise CostError(f"expected a cost for each of {len(chunk)} items, found {len(found)}")
        works = spread(found, len(chunk))
        if works is None:
            works = np.array([as_number(work) for work in found], np.float64)  # None becomes NaN
        for k in first_bad(works):
            checked(found[k], self._place(chunk, first, k))
        return works

    def _located(self, error: BaseException, chunk: list[Any], first: int) -> CostError:
        """The error with the first item at which it comes."""
        for k, item in enumerate(chunk):
            try:
                list(self._each([wide(item)]))
            except RAISED as again:  # as above
                return raised("cost", again, self._place(chunk, first, k))
        return raised("cost", error, f"in items {first} to {first + len(chunk) - 1}")

    def _place(self, chunk: list[Any], first: int, k: int) -> str:
        if self._index is not None:
            return f"at index {self._index.value(first + k)}"
        return f"at item {first + k} ({shown(chunk[k])})"


class PointCurve:
    """A cumulative work t(x): for an array of floats one of the same shape, NaN where it raises.

    ``name`` is what messages call x, by default what the function does; ``trouble`` the first x at which it
    raised, or gave no number, and a sentence on that.
    """

    def __init__(self, function: Callable[[Any], Any], name: str = "") -> None:
        self._function = function
        self.name = name or parameter(function)
        self.trouble: tuple[float, str] | None = None
        self._at_once: bool | None = None  # not known yet

    def __call__(self, x: Any) -> Floats:
        """The work below each x."""
        points = np.asarray(x, dtype=np.float64)
        with quiet():
            found = self._values(points.reshape(-1))
        return found.reshape(points.shape)

    def _values(self, points: Floats) -> Floats:
        found = self._together(points) if self._at_once is not False and len(points) > 1 else None
        return np.array([self._alone(x) for x in points.tolist()]) if found is None else found

    def _together(self, points: Floats) -> Floats | None:
        try:
            found = spread(self._function(points.copy()), len(points))
        except RAISED:  # whatever it is, one by one will show whether it is the expression's own
            found = None
        if self._at_once is None or found is None:
            self._at_once = found is not None and self._agrees(found, points)
        return found if self._at_once else None

    def _agrees(self, found: Floats, points: Floats) -> bool:
        for place in {0, len(points) // 2, len(points) - 1}:
            alone, together = self._alone(float(points[place])), float(found[place])
            if isfinite(alone) != isfinite(together):
                return False
            if isfinite(alone) and not abs(alone - together) <= _AGREEMENT * abs(alone):
                return False
        return True

    def _alone(self, x: float) -> float:
        place = f"at {self.name} = {x:.12g}"
        try:
            found = self._function(x)
        except RAISED as error:  # it is the user's expression: anything may come
            if self.trouble is None:
                hint = _BETWEEN if self._takes_integers(x) else ""
                self.trouble = x, f"{raised('cumulative cost', error, place)}{hint}"
            return float("nan")
        number = as_number(found)
        if number is None:
            self.trouble = self.trouble or (x, f"cumulative cost is not a number {place}: {shown(found)}")
        return float("nan") if number is None else number

    def _takes_integers(self, x: float) -> bool:
        """Whether it is the type of x alone that the function does not take: a subscript, a count."""
        try:
            self._function(int(x))
        except RAISED:
            return False
        return True


def parameter(function: Callable[..., Any]) -> str:
    """What a function calls its first parameter, as the program does."""
    code = getattr(function, "__code__", None)
    return str(code.co_varnames[0]) if code is not None and code.co_argcount else "i"
