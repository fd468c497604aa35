"""The evaluation of cost expressions, and what is wrong with a number that one gives.

An expression over the index variable is evaluated for many iterations at once if that gives the same result:
with a vector of floats, or of integers if floats fail (they cannot be subscripts), and else value by value. A
vector may mean something else than its values (``min(i, 5)`` raises, ``i in others`` may not, ``1 << i``
overflows silently), so for each vector some values are computed alone and compared. NumPy's warnings are
suppressed: what they warn of shows in the numbers, which are all checked.
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
from dlbrt.partition import cost_values
from dlbrt.partition.cost_spec import CostError

#: Integers up to this are exact as doubles.
_EXACT = 1 << 53

#: Added to the error of a cumulative cost that takes only integers.
_BETWEEN = (
    "; it is also evaluated between the loop's values, and where the last iteration ends "
    "(to give the cost of one iteration, use cost(EXPR))"
)

#: How far a number computed in a vector may differ from the same number computed alone: by rounding only.
_AGREEMENT = 1e-6


class Densities(ABC):
    """The work of single iterations, each 0 or more and finite, in any unit."""

    @abstractmethod
    def of(self, runs: Iterable[range]) -> Iterator[Floats]:
        """The works of ascending, disjoint runs of positions with step 1; CostError for a bad work."""


class _CallMode(Enum):
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
        self._mode = _CallMode.FLOATS

    def of(self, runs: Iterable[range]) -> Iterator[Floats]:
        """As `Densities.of`."""
        for run in runs:
            first, after = self._index.value(run.start), self._index.value(run.stop)
            with cost_values.quiet():
                found = self._works(range(first, after, self._index.step))
            yield found

    def _works(self, values: range) -> Floats:
        if max(abs(values[0]), abs(values[-1])) >= _EXACT:
            self._mode = _CallMode.ONE_BY_ONE
        while len(values) > 1 and self._mode is not _CallMode.ONE_BY_ONE:
            found = self._at_once(values)
            if found is not None and self._agrees(found, values):
                return found
        return np.fromiter(map(self._alone, values), np.float64, len(values))

    def _at_once(self, values: range) -> Floats | None:
        """The works by a vector; None, and another mode from now on, if that fails."""
        vector = np.arange(len(values), dtype=np.int64) * values.step + values.start
        try:
            found = self._function(vector if self._mode is _CallMode.INTEGERS else vector.astype(np.float64))
        except (IndexError, TypeError):
            self._mode = _CallMode.INTEGERS if self._mode is _CallMode.FLOATS else _CallMode.ONE_BY_ONE
            return None
        except cost_values.RAISED:  # one by one will show whether the expression itself raises
            self._mode = _CallMode.ONE_BY_ONE
            return None
        works = cost_values.spread(found, len(values))
        if works is None:
            self._mode = _CallMode.ONE_BY_ONE
        return works

    def _agrees(self, works: Floats, values: range) -> bool:
        """Whether the first, middle and last work are the same computed alone; CostError for a bad one."""
        bad = cost_values.first_bad(works)
        try:
            same = all(
                self._close(works[k], values[k]) for k in bad or (0, len(values) // 2, len(values) - 1)
            )
        except CostError:
            if bad:
                raise
            same = False  # one by one will find the first bad work
        if not same:
            self._mode = _CallMode.ONE_BY_ONE
        return same

    def _close(self, work: float, value: int) -> bool:
        alone = self._alone(value)
        return bool(abs(work - alone) <= _AGREEMENT * alone)

    def _alone(self, value: int) -> float:
        try:
            found = self._function(value)
        except cost_values.RAISED as error:  # a user's expression may raise anything
            raise cost_values.raised("cost", error, f"at {self._name} = {value}") from error
        if type(found) in (int, float) and 0 <= found < _EXACT:  # the common case, made quick
            return float(found)
        return cost_values.checked(found, f"at {self._name} = {value}")


class ItemDensity(Densities):
    """Work as a function of the loop's items: ``each`` turns some items into the list of their works."""

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
        """As `Densities.of`; one pass over the items."""
        items, reached = self._items(), 0
        for run in runs:
            chunk = list(islice(items, run.start - reached, run.stop - reached))
            reached = run.stop
            if len(chunk) < len(run):
                raise CostError(f"expected {run.stop} items, found {run.start + len(chunk)}")
            with cost_values.quiet():
                found = self._works(chunk, run.start)
            yield found

    def _works(self, chunk: list[Any], first: int) -> Floats:
        try:
            found = list(self._each([cost_values.wide(item) for item in chunk]))
        except cost_values.RAISED as error:  # a user's expression may raise anything
            raise self._located(error, chunk, first) from error
        if len(found) != len(chunk):
            raise CostError(f"expected a cost for each of {len(chunk)} items, found {len(found)}")
        works = cost_values.spread(found, len(chunk))
        if works is None:
            works = np.array([cost_values.as_number(work) for work in found], np.float64)  # None becomes NaN
        for k in cost_values.first_bad(works):
            cost_values.checked(found[k], self._place(chunk, first, k))
        return works

    def _located(self, error: BaseException, chunk: list[Any], first: int) -> CostError:
        """The error with the first item that raises it."""
        for k, item in enumerate(chunk):
            try:
                list(self._each([cost_values.wide(item)]))
            except cost_values.RAISED as again:  # as above
                return cost_values.raised("cost", again, self._place(chunk, first, k))
        return cost_values.raised("cost", error, f"in items {first} to {first + len(chunk) - 1}")

    def _place(self, chunk: list[Any], first: int, k: int) -> str:
        if self._index is not None:
            return f"at index {self._index.value(first + k)}"
        return f"at item {first + k} ({cost_values.shown(chunk[k])})"


class PointCurve:
    """A cumulative work t(x): maps an array of floats to one of the same shape, NaN where the function
    raises.

    ``name`` is x in messages, by default the function's own name for it; ``trouble`` is the first x at which
    the function raised or gave no number, with a sentence on that.
    """

    def __init__(self, function: Callable[[Any], Any], name: str = "") -> None:
        self._function = function
        self.name = name or parameter(function)
        self.trouble: tuple[float, str] | None = None
        self._vectorizes: bool | None = None  # not known yet

    def __call__(self, x: Any) -> Floats:
        """The work below each x."""
        points = np.asarray(x, dtype=np.float64)
        with cost_values.quiet():
            found = self._values(points.reshape(-1))
        return found.reshape(points.shape)

    def _values(self, points: Floats) -> Floats:
        found = self._together(points) if self._vectorizes is not False and len(points) > 1 else None
        return np.array([self._alone(x) for x in points.tolist()]) if found is None else found

    def _together(self, points: Floats) -> Floats | None:
        try:
            found = cost_values.spread(self._function(points.copy()), len(points))
        except cost_values.RAISED:  # one by one will show whether the expression itself raises
            found = None
        if self._vectorizes is None or found is None:
            self._vectorizes = found is not None and self._agrees(found, points)
        return found if self._vectorizes else None

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
        except cost_values.RAISED as error:  # a user's expression may raise anything
            if self.trouble is None:
                hint = _BETWEEN if self._takes_integers(x) else ""
                self.trouble = x, f"{cost_values.raised('cumulative cost', error, place)}{hint}"
            return float("nan")
        number = cost_values.as_number(found)
        if number is None:
            self.trouble = self.trouble or (
                x,
                f"cumulative cost is not a number {place}: {cost_values.shown(found)}",
            )
        return float("nan") if number is None else number

    def _takes_integers(self, x: float) -> bool:
        """Whether the function rejects only the type of x: it takes an integer there."""
        try:
            self._function(int(x))
        except cost_values.RAISED:
            return False
        return True


def parameter(function: Callable[..., Any]) -> str:
    """The name of a function's first parameter, which objects that are called have as ``parameter``."""
    if isinstance(named := getattr(function, "parameter", None), str):
        return named
    code = getattr(function, "__code__", None)
    return str(code.co_varnames[0]) if code is not None and code.co_argcount else "i"
