"""Cuts into equal parts, and one rank's bounds found alone, without arrays (sections 2 and 3).

Any rank may find its own two bounds alone: `root` follows the rule of `dlbrt.partition.roots` in Python
floats. Bounds of neighbours found alone agree to the bit on machines with the same mathematical functions;
found together they may differ in the last digits, since array and scalar functions round differently.
"""

from __future__ import annotations

from math import nan

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.partition.newton import Cutter
from dlbrt.partition.roots import HALF_DIGITS, MAX_STEPS, NEWTON_STEPS, ULPS, Method, SampledWork, misplaced
from dlbrt.partition.work import ROUNDING, CumulativeWork

__all__ = ["between", "bounds", "cut", "cuts", "method_of", "newton_share", "root"]


def cut(work: CumulativeWork, parts: int) -> Floats:
    """The P + 1 boundaries of P parts of equal work; see `Cutter`."""
    return cuts(Cutter(work), parts)


def cuts(cutter: Cutter, parts: int) -> Floats:
    """The boundaries x_0 .. x_P of P equal parts: P + 1 numbers, not decreasing."""
    if parts < 1:
        raise ValueError(f"expected at least 1 part, found {parts}")
    return cutter.cuts_at(np.arange(parts + 1) / parts)


def bounds(cutter: Cutter, rank: int, parts: int) -> tuple[float, float]:
    """The bounds of one of P equal parts, found alone; ValueError unless 0 <= rank < parts."""
    if not 0 <= rank < parts:
        raise ValueError(f"expected 0 <= rank < {parts}, found {rank}")
    return between(cutter, rank / parts, (rank + 1) / parts)


def between(cutter: Cutter, low: float, high: float) -> tuple[float, float]:
    """The boundaries at two fractions of the work, 0 <= low <= high <= 1, else ValueError."""
    if not 0 <= low <= high <= 1:
        raise ValueError(f"expected fractions 0 <= low <= high <= 1, found {low} and {high}")
    with np.errstate(all="ignore"):
        first = _alone(cutter, low)
        return first, max(first, _alone(cutter, high))


def method_of(cutter: Cutter) -> Method:
    """The weakest method that a cell of the domain needs."""
    return Method(int(cutter.table.methods.max()))


def newton_share(cutter: Cutter) -> float:
    """The part of the total work that lies where appendix A grants that Newton converges."""
    work = np.diff(cutter.table.values)
    return float(work[cutter.table.methods == Method.NEWTON].sum() / work.sum())


def root(table: SampledWork, target: float) -> float:
    """The x with t(x) = target, alone; WorkError where t turns out not to increase."""
    cell = min(max(int(np.searchsorted(table.values, target)), 1), len(table.values) - 1)
    low, high = (float(each) for each in table.x[cell - 1 : cell + 1])
    at_low, at_high = (float(each) for each in table.values[cell - 1 : cell + 1])
    if target >= at_high:
        return high
    if target <= at_low:
        return low
    t, derivative, kind, width = table.t, table.derivative, table.methods[cell - 1], high - low
    slack, noise, side = ROUNDING * table.scale, table.noise, 0
    below, above = at_low - target, at_high - target
    x = low - below * width / (above - below)
    for step in range(MAX_STEPS):
        value = float(t(np.float64(x)))
        if not at_low - slack <= value <= at_high + slack:
            raise misplaced(x, value, (low, high), (at_low, at_high))
        f = value - target
        if -noise <= f <= noise:
            return x
        if f < 0:
            low, at_low, below = x, value, f
            above = above / 2 if side < 0 else above
            side = -1
        else:
            high, at_high, above = x, value, f
            below = below / 2 if side > 0 else below
            side = 1
        small = table.tolerance * max(min(abs(x), table.span), 1e-6 * width) + ULPS * abs(x)
        if high - low <= small:
            return x
        newton = kind == Method.NEWTON and step < NEWTON_STEPS
        following = nan
        if newton:
            slope = _slope(table, x, value, width) if derivative is None else float(derivative(np.float64(x)))
            following = x - f / slope if slope else nan
        if not low < following < high:
            newton = False
            middle = kind == Method.BISECTION or step % 3 == 2
            following = low - below * (high - low) / (above - below)
            if middle or not low < following < high:
                following = low + (high - low) / 2
        if newton and abs(following - x) <= small:
            return following
        x = following
    return x


def _slope(table: SampledWork, x: float, value: float, width: float) -> float:
    """One of the `difference_quotients`; NaN where x has no digits left."""
    dx = min(HALF_DIGITS * max(abs(x), 1e-3 * width), 1e-2 * width)
    if x + dx > table.x[-1]:
        dx = -dx
    beyond = x + dx
    return (float(table.t(np.float64(beyond))) - value) / (beyond - x) if beyond != x else nan


def _alone(cutter: Cutter, fraction: float) -> float:
    if fraction <= 0 or fraction >= 1:
        return cutter.work.high if fraction >= 1 else cutter.work.low
    target = cutter.start + cutter.total * fraction
    left, first = float(cutter.table.x[0]), float(cutter.table.values[0])
    if target < first:
        return cutter.work.low + (target - cutter.start) / (first - cutter.start) * (left - cutter.work.low)
    return root(cutter.table, target)
