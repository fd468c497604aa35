"""Roots of t(x) = C, all at once in arrays, by the method that will converge in each cell of a sampled t.

Every C lies in a cell of a table of t, which is its first bracket; the start is linear in the cell (with a
table of one cell this is the paper's own start, x_max i / N_p). Then, by the cell's method (`methods`):

* Newton, x - (t(x) - C) / t'(x), with t' analytic or a difference quotient (Swartz, section 2); if it
  leaves the bracket, the secant. After `NEWTON_STEPS` the secant rule takes over.
* Secant: through the ends of the bracket, the stale end's value halved (Illinois), every third step the
  middle, so that the bracket shrinks to nothing whatever t does.
* Bisection: the middle.

A search ends when t(x) is C to the rounding of t, or when a Newton step or the bracket is below the relative
tolerance. (An absolute tolerance, as in the paper's appendix B, can be below an ulp of x.) A value outside
the values at the bracket's ends shows that t is not increasing, or not a number, and is refused.

Swartz, appendix A: Newton on f(x) = t(x) - C converges from any start in an interval where t' and t'' keep
their signs (from the left it overshoots once, then falls monotonically), and wherever it is a contraction,
|Q(x)| < 1 with Q = f f'' / f'^2 (the print lacks the absolute value). In a cell of the table, |f| is at most
the work of the cell, so one bound of |Q| holds for every C that is cut there. Whether t' is continuous is
judged by the mean value theorem: the cell's difference quotient lies between the slopes at its ends.
"""

from __future__ import annotations

from enum import IntEnum
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from dlbrt.data.layout import Floats
from dlbrt.partition.work import ROUNDING, Curve, WorkError, WorkFault, evaluate
from dlbrt.records import dataclass

#: How far the difference quotient may lie outside the end slopes, as a part of these.
MARGIN = 0.1


class Method(IntEnum):
    """How a root is searched inside its bracket; each method falls back on the next."""

    NEWTON = 0
    SECANT = 1
    BISECTION = 2


def contraction(f: Floats, slope: Floats, curvature: Floats) -> Floats:
    """|Q| = |f f'' / f'^2| by element; infinite or NaN where t is flat."""
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(f * curvature) / np.square(slope))


def methods(x: Floats, t: Floats, slope: Floats) -> NDArray[np.int8]:
    """The method for each of the m cells between m + 1 samples of x, t and t'.

    Newton where t' is positive, continuous as far as the samples show, and |Q| < 1 in the whole cell or
    t'' keeps its sign there and in the cells beside; bisection where t is flat at an end or over the
    cell; the secant method elsewhere.
    """
    width, work = np.diff(x), np.diff(t)
    least, most = np.minimum(slope[:-1], slope[1:]), np.maximum(slope[:-1], slope[1:])
    with np.errstate(all="ignore"):
        quotient, curvature = work / width, (most - least) / width
        continuous = (quotient >= least * (1 - MARGIN)) & (quotient <= most * (1 + MARGIN))
        converges = (contraction(work, least, curvature) < 1) | _keeps_sign(np.diff(slope))
        newton = (least > 0) & np.isfinite(most) & continuous & converges
        flat = (least <= 0) | (work <= 0)
    found = np.where(newton, Method.NEWTON, np.where(flat, Method.BISECTION, Method.SECANT))
    return found.astype(np.int8)


def _keeps_sign(bend: Floats) -> NDArray[np.bool_]:
    """Where t' changes in the same direction in a cell and its neighbours."""
    sign = np.sign(bend)
    around = np.concatenate((sign[:1], sign, sign[-1:]))
    kept: NDArray[np.bool_] = (sign != 0) & (around[:-2] == sign) & (around[2:] == sign)
    return kept


#: More steps than any bracket of doubles needs if only every third one bisects it.
MAX_STEPS = 400

#: By this step Newton has converged, or it will not.
NEWTON_STEPS = 8

#: The dx of a difference quotient, relative to x (or to the cell, near 0): half the digits of a double.
HALF_DIGITS = 1.5e-8

#: The rounding of a number, relative to it: a few units in the last place.
ULPS = 4 * float(np.finfo(np.float64).eps)

#: How many roots are searched at a time: what the caches hold.
AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class SampledWork:
    """Samples of t on m + 1 points x, the method of each of the m cells, and how to evaluate more.

    ``tolerance`` is relative to x, or to the ``span`` if that is less; ``scale`` is the largest magnitude of
    t.
    """

    t: Curve
    derivative: Curve | None
    x: Floats
    values: Floats
    methods: NDArray[np.int8]
    tolerance: float
    scale: float

    @property
    def span(self) -> float:
        """The width of the domain."""
        return float(self.x[-1] - self.x[0])

    @property
    def noise(self) -> float:
        """The rounding of t."""
        return ULPS * self.scale


@dataclass(frozen=True, slots=True, eq=False)
class Roots:
    """The roots, and how many times t was evaluated for each."""

    x: Floats
    steps: NDArray[np.int64]


def difference_quotients(t: Curve, x: Floats, value: Floats, width: Floats | float, end: float) -> Floats:
    """t' at x, where t is ``value``, taken towards the inside of a domain that ends at ``end``.

    dx is half the digits of x (of the cell's width near 0), and at most a hundredth of the cell.
    """
    dx = np.minimum(HALF_DIGITS * np.maximum(np.abs(x), 1e-3 * width), 1e-2 * width)
    beyond = np.where(x + dx > end, x - dx, x + dx)
    with np.errstate(all="ignore"):
        return np.asarray((evaluate(t, beyond) - value) / (beyond - x), dtype=np.float64)


def misplaced(x: float, value: float, ends: tuple[float, float], values: tuple[float, float]) -> WorkError:
    """The error for a value of t that lies outside the values at the ends of its bracket."""
    if not isfinite(value):
        fault = WorkFault.NOT_A_NUMBER if value != value else WorkFault.INFINITE
        return WorkError(fault, x, f"t = {value}")
    points = zip((ends[0], x, ends[1]), (values[0], value, values[1]), strict=True)
    found = ", ".join(f"t({at:.12g}) = {number:.6g}" for at, number in points)
    return WorkError(WorkFault.DECREASING, x, found)


def roots(table: SampledWork, targets: Floats) -> Roots:
    """The x with t(x) = target for each target; WorkError if t turns out not to increase."""
    x = np.empty(len(targets))
    steps = np.zeros(len(targets), dtype=np.int64)
    for first in range(0, len(targets), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        _Brackets.around(table, targets[part]).close(table, x[part], steps[part])
    return Roots(x, steps)


@dataclass(slots=True, eq=False)
class _Brackets:
    """The open brackets, an element each; ``place`` is the index of the root."""

    place: NDArray[np.int64]
    target: Floats
    kind: NDArray[np.int8]
    x: Floats
    low: Floats
    high: Floats
    at_low: Floats
    at_high: Floats
    below: Floats
    above: Floats
    width: Floats
    side: NDArray[np.int8]

    @classmethod
    def around(cls, table: SampledWork, target: Floats) -> _Brackets:
        """The cells of the targets, and where to start in them."""
        cell = np.clip(np.searchsorted(table.values, target, side="left"), 1, len(table.values) - 1)
        low, high = table.x[cell - 1], table.x[cell]
        at_low, at_high = table.values[cell - 1], table.values[cell]
        below, above, width = at_low - target, at_high - target, high - low
        with np.errstate(all="ignore"):
            x = low - below * width / (above - below)
        x = np.where(target >= at_high, high, np.where(target <= at_low, low, x))
        side = np.zeros(len(target), dtype=np.int8)
        place, kind = np.arange(len(target)), table.methods[cell - 1]
        return cls(place, target, kind, x, low, high, at_low, at_high, below, above, width, side)

    def close(self, table: SampledWork, x: Floats, steps: NDArray[np.int64]) -> None:
        """Find all roots and write them to ``x``, and the numbers of evaluations to ``steps``."""
        x[:] = self.x
        self._keep((self.target < self.at_high) & (self.target > self.at_low))
        for step in range(MAX_STEPS):
            if not len(self.place):
                return
            steps[self.place] += 1
            following, done = self._step(table, step)
            x[self.place] = np.where(done, self.x, following)
            self.x = following
            if done.any():
                self._keep(~done)

    def _step(self, table: SampledWork, step: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Evaluate t at x and narrow the brackets: the next x, and which roots are found.

        If a root is found by a small step, x already includes that step.
        """
        value = evaluate(table.t, self.x)
        f = value - self.target
        self._narrow(value, f, ROUNDING * table.scale)
        size = np.abs(self.x)
        small = table.tolerance * np.maximum(np.minimum(size, table.span), 1e-6 * self.width) + ULPS * size
        done = (np.abs(f) <= table.noise) | (self.high - self.low <= small)
        following, newton = self._following(table, step, value, f)
        settled = newton & ~done & (np.abs(following - self.x) <= small)
        self.x = np.where(settled, following, self.x)
        return following, done | settled

    def _narrow(self, value: Floats, f: Floats, slack: float) -> None:
        wrong = ~((self.at_low - slack <= value) & (value <= self.at_high + slack))
        if wrong.any():
            k = int(np.argmax(wrong))
            ends, values = (self.low[k], self.high[k]), (self.at_low[k], self.at_high[k])
            raise misplaced(float(self.x[k]), float(value[k]), ends, values)
        left = f < 0
        stale_above, stale_below = left & (self.side < 0), ~left & (self.side > 0)
        self.above = np.where(left, np.where(stale_above, self.above / 2, self.above), f)
        self.below = np.where(left, f, np.where(stale_below, self.below / 2, self.below))
        self.low, self.high = np.where(left, self.x, self.low), np.where(left, self.high, self.x)
        self.at_low, self.at_high = np.where(left, value, self.at_low), np.where(left, self.at_high, value)
        self.side = np.where(left, np.int8(-1), np.int8(1))

    def _following(
        self, table: SampledWork, step: int, value: Floats, f: Floats
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The next x, and where it is Newton's."""
        newton = (self.kind == Method.NEWTON) & (step < NEWTON_STEPS)
        following = np.full(len(f), nan)
        with np.errstate(all="ignore"):
            if newton.any():
                following = np.where(newton, self.x - f / self._slopes(table, value), nan)
            newton = (self.low < following) & (following < self.high)
            if not newton.all():
                following = np.where(newton, following, self._safe(step))
        return following, newton

    def _safe(self, step: int) -> Floats:
        """The secant's next x, or the middle, by the rule in the module's docstring."""
        middle = self.low + (self.high - self.low) / 2
        secant = self.low - self.below * (self.high - self.low) / (self.above - self.below)
        usable = (self.kind != Method.BISECTION) & (step % 3 != 2)
        return np.where(usable & (self.low < secant) & (secant < self.high), secant, middle)

    def _slopes(self, table: SampledWork, value: Floats) -> Floats:
        if table.derivative is not None:
            return evaluate(table.derivative, self.x)
        return difference_quotients(table.t, self.x, value, self.width, float(table.x[-1]))

    def _keep(self, which: NDArray[np.bool_]) -> None:
        if which.all():
            return
        for name in self.__slots__:
            setattr(self, name, getattr(self, name)[which])
