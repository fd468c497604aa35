"""From a kernel's statement of a loop's cost, by the clause `cost` or derived, to work that can be cut.

A density W(i) is summed exactly over all iterations. A cumulative work t(x), given or fitted to timings, is
used directly: the iteration with value v stands for the work from v to v + abs(step). If t is not a work only
at the lower end of the domain (a pole, a decrease), work is counted from 0 and grows evenly up to where t
increases, as in section 3 of Swartz: t = x^1.43 / (ln x - 1.08366) increases from 5.95 on (appendix A).

All of this calls the user's expressions, and runs on one rank, before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dlbrt.data.footprint import IndexMap
from dlbrt.data.layout import Floats
from dlbrt.partition.cost_calls import IndexDensity, ItemDensity, PointCurve
from dlbrt.partition.cost_spec import CostError, CostSpec
from dlbrt.partition.cost_values import RAISED, checked, quiet, raised, shown, widened
from dlbrt.partition.fit import Fit, best, monotone
from dlbrt.partition.known import CurvedWork, KnownWork, summed
from dlbrt.partition.newton import CELLS, Cutter
from dlbrt.partition.work import (
    ROUNDING,
    CumulativeWork,
    Curve,
    WorkError,
    WorkFault,
    evaluate,
    over_positions,
)
from dlbrt.records import dataclass

#: How often the first cell of the domain is halved to find the behaviour of t near its lower end.
_HALVINGS = 40

#: A lower end with less than this part of all work is estimated without a remark.
_NEGLIGIBLE = 0.01


def evaluate_cost(
    spec: CostSpec, n: int, index: IndexMap | None, items: Callable[[], Iterator[Any]]
) -> KnownWork | None:
    """The work of positions 0..n-1; None if it is the same for all, or not stated.

    ``index`` gives the values of the index variable, ``items()`` the loop's items from the first on.
    CostError, with a sentence for the user, for a cost by which work cannot be divided; ValueError for a form
    that needs an index if there is none.
    """
    if n == 0:
        return None
    if spec.each is not None:
        return summed(ItemDensity(widened(spec.each), items, index), n)
    if callable(spec.density):
        return summed(IndexDensity(widened(spec.density), _needed(index)), n)
    if spec.density is not None:
        _check_uniform(spec.density)
    if spec.cumulative is not None:
        return _by_curve(widened(spec.cumulative), n, _needed(index))
    return _by_samples(widened(spec.fit), n, _needed(index)) if spec.fit is not None else None


def _check_uniform(cost: float) -> None:
    if not checked(cost, "in every iteration"):
        raise CostError("cost is zero everywhere: expected some work")


def _needed(index: IndexMap | None) -> IndexMap:
    if index is None:
        raise ValueError("expected a loop that counts, for a cost that is a function of its index")
    return index


@dataclass(frozen=True, slots=True, eq=False)
class _Domain:
    """A cumulative work over a loop's ``values``, which ascend; ``curve`` calls it."""

    curve: PointCurve
    values: range
    what: str = "cumulative cost"

    def x(self, position: float) -> float:
        """The value of the index variable at a position, or between two."""
        return self.values.start + self.values.step * position

    def error(self, fault: WorkError) -> CostError:
        """The error, in terms of the index variable."""
        if self.curve.trouble is not None:  # without a value, no other fault matters
            return CostError(self.curve.trouble[1])
        x, name = self.x(fault.place), self.curve.name
        if fault.fault is WorkFault.NONE_AT_ALL:
            ends = f"from {name} = {self.x(0):.12g} to {self.x(len(self.values)):.12g}"
            return CostError(f"{self.what} does not increase {ends}: t = {float(self.curve(x)):.6g} at both")
        if fault.fault is WorkFault.DECREASING:
            return CostError(f"{self.what} decreases at {name} = {x:.12g}: {self._fall(fault.place)}")
        return CostError(f"{self.what} {fault.fault.value} at {name} = {x:.12g}: {fault.found}")

    def _fall(self, position: float) -> str:
        """The value of t at a position, and at the next sample if it is less there."""
        here, there = self.x(position), self.x(position + len(self.values) / CELLS)
        before, after = float(self.curve(here)), float(self.curve(there))
        if not after < before:
            return "expected a t(x) that increases with x"
        return f"t({here:.12g}) = {before:.6g}, t({there:.12g}) = {after:.6g}; expected it to increase"


def _by_curve(function: Callable[[Any], Any], n: int, index: IndexMap) -> CurvedWork:
    domain = _Domain(PointCurve(function), _ascending(n, index))
    return _curved(domain, domain.curve, None, mirrored=index.step < 0)


def _curved(domain: _Domain, t: Curve, derivative: Curve | None, mirrored: bool) -> CurvedWork:
    try:
        cutter = _cutter(over_positions(t, domain.values, derivative))
    except WorkError as error:
        raise domain.error(error) from error
    return CurvedWork(cutter, mirrored, domain.error, _estimated(cutter, domain))


def _estimated(cutter: Cutter, domain: _Domain) -> str:
    """A remark on a lower end whose work had to be estimated; empty if that work is negligible."""
    left = cutter.work.increasing_from
    if left is None or float(evaluate(cutter.work.t, np.array([left]))[0]) < _NEGLIGIBLE * cutter.total:
        return ""
    return (
        f"{domain.what} does not increase below {domain.curve.name} = {domain.x(left):.6g}: "
        "taken to grow evenly from 0 up to there"
    )


def _cutter(work: CumulativeWork) -> Cutter:
    """The work ready to be cut, from where it increases; WorkError if it does not in over half the domain."""
    try:
        whole = Cutter(work)
    except WorkError as error:
        if error.increases_from is None:
            raise
        try:
            return Cutter(replace(work, start=0.0, increasing_from=error.increases_from))
        except WorkError:
            raise error from None
    rise = _rise(work)
    if rise is None:
        return whole
    try:
        return Cutter(replace(work, start=0.0, increasing_from=rise))
    except WorkError:
        return whole


def _rise(work: CumulativeWork) -> float | None:
    """Where t begins to increase in the first cell of a table without a decrease; None: at once.

    A pole at the lower end of the domain is far narrower than a cell, so it is approached by halving.
    """
    cell = (work.high - work.low) / CELLS
    x = work.low + cell * np.append(0.0, 2.0 ** np.arange(-_HALVINGS, 1))
    t = evaluate(work.t, np.append(x, work.high))
    falls = np.flatnonzero(~(np.diff(t[:-1]) >= -ROUNDING * float(np.abs(t).max())))
    if not len(falls):
        return None
    # The least t may lie just above the end of the last fall, so take the sample after it.
    return float(x[min(int(falls[-1]) + 2, len(x) - 1)])


def _by_samples(fit: Callable[[], Any], n: int, index: IndexMap) -> CurvedWork:
    x, t = _samples(fit)
    values, mirrored = _ascending(n, index), index.step < 0
    for form in (best, monotone):
        try:
            with quiet():
                found: Fit = form(x, t)
            domain = _Domain(PointCurve(found.t, "x"), values, "the fitted curve")
            return _curved(domain, found.t, found.derivative, mirrored)
        except ValueError as error:  # or a `CostError`: the other form may succeed
            refused = error
    raise CostError(_falling(x, t) or f"samples of cost(fit=...): {refused}") from refused


def _falling(x: Floats, t: Floats) -> str:
    """The first samples between which t decreases, in words; empty if there are none."""
    for k in np.flatnonzero(np.diff(t) < 0)[:1].tolist():
        pair = f"t({x[k]:.6g}) = {t[k]:.6g}, t({x[k + 1]:.6g}) = {t[k + 1]:.6g}"
        return f"samples of cost(fit=...) decrease: {pair}; expected the time of all iterations below x"
    return ""


def _samples(fit: Callable[[], Any]) -> tuple[Floats, Floats]:
    """The samples by x; CostError unless they are pairs of finite numbers at different x."""
    try:
        with quiet():
            found = fit()
            given = [tuple(pair) for pair in (found.items() if isinstance(found, Mapping) else found)]
            pairs = np.array(sorted(given), dtype=np.float64)
    except RAISED as error:  # a user's expression may raise anything
        raise raised("cost(fit=...)", error, "") from error
    if pairs.ndim != 2 or pairs.shape[1:] != (2,) or len(pairs) < 2:
        raise CostError(f"cost(fit=...): expected two pairs (x, t) or more, found {shown(given)}")
    if not np.isfinite(pairs).all() or (np.diff(pairs[:, 0]) <= 0).any() or pairs[:, 1].min() < 0:
        text = "expected finite x, each once, with times of 0 or more"
        raise CostError(f"cost(fit=...): {text}, found {shown(given)}")
    return pairs[:, 0], pairs[:, 1]


def _ascending(n: int, index: IndexMap) -> range:
    """The values of n positions, the smallest first."""
    values = range(index.value(0), index.value(n), index.step)
    return values if index.step > 0 else values[::-1]
