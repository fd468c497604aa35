"""Partial speed functions, linear between the points, level to their left and right (Clarke et al., 5.2).

A line through the origin is all sizes that take the same time: s = x / T. It must meet each function once,
or a time belongs to several sizes. On a piece s = a + b x it does if t = x / s increases, t' = a / s^2: if
the piece, prolonged, meets the axis above 0. So t must increase from point to point; no more is needed.

The paper asks for more, increasing and concave up to a peak, but level from 0 to the first point, which
together forbid any rise (and it calls this convex). Repaired are, in a copy, the measurements being kept:

1. A point that took no longer than one of less units takes as long: more work is not predicted to end
   before less work did.
2. Right of the peak the speed does not rise, as the paper has it: where a size was slow, paging has begun,
   and a larger one is not faster. Where it does rise (a sawtooth, figure 10) only `akima` follows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dlbrt.dist.layout import Floats

__all__ = ["Piecewise", "repaired"]

#: A time that does not increase is made to by this factor, so that every piece has an intercept above 0.
_MIN_RISE = 1 + 1e-9


def repaired(units: Floats, speeds: Floats) -> Floats:
    """The speeds in the shape that lines through the origin meet once.

    A row for each rank: units in increasing order, filled up with inf, where speeds may be anything.
    """
    there = np.isfinite(units)
    columns = np.arange(units.shape[1])
    times = np.where(there, units, 1.0) / np.where(there, speeds, np.inf)
    rise = _MIN_RISE**columns  # makes of a running maximum one that increases
    least = np.maximum.accumulate(times / rise, axis=1) * rise
    shaped = np.where(least > times * _MIN_RISE, units / least, speeds)
    peak = np.argmax(np.where(there, shaped, -np.inf), axis=1)[:, None]
    falling = np.minimum.accumulate(np.where(there & (columns >= peak), shaped, np.inf), axis=1)
    return np.where(there & (columns >= peak), falling, shaped)


class Piecewise:
    """One such function for each rank, from its points, at least one each; rows as in `PointTable`.

    ``times`` are the seconds t(d) at the points, increasing along a row and filled up with inf.
    """

    def __init__(self, units: Floats, speeds: Floats) -> None:
        there = np.isfinite(units)
        fitted = np.where(there, repaired(units, speeds), np.inf)
        self.times: Floats = units / np.where(there, fitted, 1.0)
        self._units = units
        ranks, points = units.shape
        ends = np.empty((ranks, points + 2))
        ends[:, 0], ends[:, 1:-1], ends[:, -1] = 0.0, units, np.inf
        slope = np.zeros((ranks, points + 1))
        with np.errstate(invalid="ignore"):
            widths = units[:, 1:] - units[:, :-1]
            np.divide(fitted[:, 1:] - fitted[:, :-1], widths, out=slope[:, 1:-1], where=there[:, 1:])
            rest = slope[:, 1:] * units
        pieces = np.empty((ranks, points + 1, 4))
        pieces[..., 0], pieces[..., 1] = ends[:, :-1], ends[:, 1:]
        pieces[:, 0, 2] = fitted[:, 0]
        pieces[:, 1:, 2] = fitted - np.where(there, rest, 0.0)
        pieces[..., 3] = slope
        self._pieces = pieces.reshape(-1, 4)
        self._first: NDArray[np.intp] = np.arange(ranks) * (points + 1)

    @property
    def ranks(self) -> int:
        """How many."""
        return len(self._first)

    def speeds(self, x: Floats) -> Floats:
        """s_i(x_i) in units a second."""
        _, _, intercept, slope = self._at((self._units < x[:, None]).sum(axis=1))
        speed: Floats = intercept + slope * x
        return speed

    def slopes(self, x: Floats) -> Floats:
        """s_i'(x_i); at a point, that of the piece to its right."""
        slope: Floats = self._at((self._units <= x[:, None]).sum(axis=1))[3]
        return slope

    def crossing(self, seconds: float) -> tuple[Floats, Floats]:
        """Where the line of all sizes that take so long meets the functions: x_i, and dx_i by dt."""
        low, high, intercept, slope = self._at((self.times < seconds).sum(axis=1))
        share = 1 / (1 - slope * seconds)
        rate = intercept * share
        return np.minimum(np.maximum(rate * seconds, low), high), rate * share

    def _at(self, piece: NDArray[np.intp]) -> Floats:
        """Where the pieces begin and end, their intercepts and slopes."""
        return self._pieces.take(self._first + piece, axis=0).T
