"""Cut a cumulative work t(x) into parts of equal work: t(x_i) = i TT / N_p (Swartz, section 2, equation 1).

The domain of processor i is [x_i, x_{i+1}); unequal processors get parts TT f_i for given fractions (section
4). x_0 and x_Np are exactly the ends of the domain: for i = 0 the equation may have no root (the paper's t
has a positive least value), and x_max need not be searched. The constant A of t = A t_ref divides out.

A `Cutter` samples t once, refuses a t that cannot be cut, and picks the method for each cell
(`roots.methods`). Then one rank computes all bounds together (`roots.roots`) and sends them to the others.
Ranks that compute their own bounds, as in the paper, may differ in the last digits, since array and scalar
functions round differently (`samples/papers/swartz/newton.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite

import numpy as np
from numpy.typing import ArrayLike

from dlbrt.data.layout import Floats
from dlbrt.partition.roots import Roots, SampledWork, difference_quotients, methods, roots
from dlbrt.partition.work import CumulativeWork, WorkError, WorkFault, check_increasing, evaluate

#: Cells of the table: it takes less than a millisecond, and two or three steps from its start suffice.
CELLS = 1024

#: Relative tolerance of the boundaries.
TOLERANCE = 1e-12


class Cutter:
    """A cumulative work made ready to be cut.

    ``total`` is TT in the unit of t. WorkError where t is NaN, infinite, decreasing or constant, with the x;
    ValueError for ``cells`` below 1 or a ``tolerance`` outside (0, 1). Source: Swartz, sections 2 and 3,
    appendices A and B.
    """

    def __init__(self, work: CumulativeWork, cells: int = CELLS, tolerance: float = TOLERANCE) -> None:
        if cells < 1 or not 0 < tolerance < 1:
            raise ValueError(f"expected 1 cell or more and 0 < tolerance < 1, found {cells} and {tolerance}")
        self.work = work
        x = np.linspace(work.left, work.high, cells + 1)
        t = evaluate(work.t, x)
        check_increasing(x, t)
        t = np.maximum.accumulate(t)
        self.start = float(t[0]) if work.start is None else work.start
        self.total = self._total(float(t[0]), float(t[-1]))
        self.table = _table(work, x, t, tolerance)

    def cuts_at(self, fractions: ArrayLike) -> Floats:
        """The boundary below which each of the given fractions of the work lies; they do not decrease.

        ValueError unless the fractions lie in [0, 1] and do not decrease; 0 and 1 give exactly the ends.
        """
        return self.solve(_checked(fractions)).x

    def solve(self, fractions: Floats) -> Roots:
        """The boundaries at the fractions, with the number of evaluations of t for each."""
        target = self.start + self.total * fractions
        found = roots(self.table, target)
        left, first = float(self.table.x[0]), float(self.table.values[0])
        x = found.x
        if left > self.work.low and first > self.start:
            share = (target - self.start) / (first - self.start)
            x = np.where(share < 1, self.work.low + share * (left - self.work.low), x)
        x[fractions <= 0], x[fractions >= 1] = self.work.low, self.work.high
        return Roots(np.maximum.accumulate(x), found.steps)

    def _total(self, first: float, last: float) -> float:
        if first < self.start:
            found = f"t = {first:.6g} there, {self.start:.6g} at the beginning"
            raise WorkError(WorkFault.DECREASING, self.work.left, found)
        total = last - self.start
        if not isfinite(total):
            raise WorkError(WorkFault.INFINITE, self.work.high, f"from {self.start} to {last}")
        if total <= 0:
            found = f"t is {last:.6g} at both ends of the domain"
            raise WorkError(WorkFault.NONE_AT_ALL, self.work.low, found)
        return total


def fractions(weights: Sequence[float]) -> Floats:
    """The part of all weights that precedes each boundary: P + 1 numbers from 0 to 1.

    ValueError for a weight that is negative or not finite, or if none is positive.
    """
    for weight in weights:
        if not (weight >= 0 and isfinite(weight)):
            raise ValueError(f"expected weights of 0 or more, found {weight}")
    total = fsum(weights)
    if not (total > 0 and isfinite(total)):
        raise ValueError(f"expected at least one weight above 0 and a finite sum, found {total}")
    sums = np.cumsum(np.asarray(weights, dtype=np.longdouble)).astype(np.float64)
    return np.concatenate(([0.0], sums / sums[-1]))


def _table(work: CumulativeWork, x: Floats, t: Floats, tolerance: float) -> SampledWork:
    scale = max(float(np.abs(t).max()), abs(work.start or 0.0))
    found = methods(x, t, _slopes(work, x, t))
    return SampledWork(work.t, work.derivative, x, t, found, tolerance, scale)


def _slopes(work: CumulativeWork, x: Floats, t: Floats) -> Floats:
    """t' at the samples, analytic or as difference quotients towards the inside."""
    if work.derivative is not None:
        return evaluate(work.derivative, x)
    return difference_quotients(work.t, x, t, float(x[1] - x[0]), work.high)


def _checked(fractions: ArrayLike) -> Floats:
    found = np.asarray(fractions, dtype=np.float64)
    inside = (found >= 0) & (found <= 1)
    if found.ndim != 1 or not inside.all() or (np.diff(found) < 0).any():
        raise ValueError(f"expected fractions in [0, 1] that do not decrease, found {found}")
    return found
