"""Speed functions of all ranks at once: constant, piecewise linear, and Akima's splines.

The partial functions are made of the points that passes measured (Clarke, Lastovetsky, Rychkov, sections 3,
5.2 and 6.2), a row of points for each rank as in `PointTable`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dlbrt.data.layout import Floats


class SpeedFunctions(Protocol):
    """One speed function for each of p ranks, positive and continuous on x >= 0."""

    def speeds(self, x: Floats) -> Floats:
        """s_i(x_i) in units a second, for p numbers of units x."""


class ConstantSpeeds:
    """Speeds that do not depend on the size (Clarke et al., section 3): units a second, one for each rank."""

    def __init__(self, speeds: Floats) -> None:
        self._speeds = speeds

    def speeds(self, x: Floats) -> Floats:  # noqa: ARG002
        """The same for every x."""
        return self._speeds


def seconds(functions: SpeedFunctions, x: Floats) -> Floats:
    """t_i(x_i) = x_i / s_i(x_i), 0 for no units."""
    return np.where(x > 0, x / functions.speeds(x), 0.0)


# Piecewise linear functions, level to the left and right of their points (Clarke et al., section 5.2).
#
# A line through the origin holds all sizes that take the same time: s = x / T. It must meet each function
# once, or a time would belong to several sizes. On a piece s = a + b x this holds if t = x / s increases, t'
# = a / s^2: if the piece, prolonged, meets the axis above 0. So t must increase from point to point; no more
# is needed.
#
# The paper asks for more: increasing and concave up to a peak, but level from 0 to the first point, which
# together forbid any rise (and it calls this convex). Two things are repaired, in a copy of the measurements:
#
# 1. A point that took no longer than a point of fewer units takes as long: more work is not predicted to end
#    before less work did.
# 2. Right of the peak the speed does not rise, as in the paper: where a size was slow, paging has begun, and
#    a larger size is not faster. Only `Akima` follows speeds that do rise there (a sawtooth, figure 10).

#: A time that does not increase is increased by this factor, so that every piece has an intercept above 0.
_MIN_RISE = 1 + 1e-9


def repaired(units: Floats, speeds: Floats) -> Floats:
    """The speeds in a shape that lines through the origin meet once.

    Each rank has a row of units in increasing order, filled up with inf, where speeds may be anything.
    """
    there = np.isfinite(units)
    columns = np.arange(units.shape[1])
    times = np.where(there, units, 1.0) / np.where(there, speeds, np.inf)
    rise = _MIN_RISE**columns  # turns a running maximum into an increasing sequence
    least = np.maximum.accumulate(times / rise, axis=1) * rise
    shaped = np.where(least > times * _MIN_RISE, units / least, speeds)
    peak = np.argmax(np.where(there, shaped, -np.inf), axis=1)[:, None]
    falling = np.minimum.accumulate(np.where(there & (columns >= peak), shaped, np.inf), axis=1)
    return np.where(there & (columns >= peak), falling, shaped)


class Piecewise:
    """A piecewise linear function for each rank, from at least one point each; rows as in `PointTable`.

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

    def speeds(self, x: Floats) -> Floats:
        """s_i(x_i) in units a second."""
        _, _, intercept, slope = self._at((self._units < x[:, None]).sum(axis=1))
        speed: Floats = intercept + slope * x
        return speed

    def crossing(self, seconds: float) -> tuple[Floats, Floats]:
        """Where the line of all sizes that take ``seconds`` meets the functions: x_i, and dx_i / dt."""
        low, high, intercept, slope = self._at((self.times < seconds).sum(axis=1))
        share = 1 / (1 - slope * seconds)
        rate = intercept * share
        return np.minimum(np.maximum(rate * seconds, low), high), rate * share

    def _at(self, piece: NDArray[np.intp]) -> Floats:
        """Where the pieces begin and end, their intercepts and slopes."""
        return self._pieces.take(self._first + piece, axis=0).T


# Akima's splines (Clarke et al., section 6.2; Akima, JACM 17, 1970).
#
# Between nodes the function is the cubic with the nodes' slopes. A node's slope is the mean of the slopes of
# the lines to its neighbours, each weighted by how much the lines bend on the other side. So an outlier bends
# the curve only near itself, no system has to be solved, and the first derivative is continuous.
#
# Beyond its points a function is level, down to 0 and up to n: the paper's extended models, (0, s_1) and (n,
# s_k). For the two lines that the slope at an end lacks, Akima would prolong the spline's own bend; here
# level lines take their place, so that no end bends back. The paper adds nodes to have the five that its
# spline needs. They lie on the same level lines and change nothing, so they are left out, and with them (n -
# x_k) / 2, a misprint of (n + x_k) / 2 (for p <= 3 it does not lie between its neighbours).
#
# The cubic may overshoot where points lie close beside a cliff. Speeds are kept above a part of the least
# speed measured, so that times are finite and positive whatever the points are (proposition 1 presumes this).

#: No function falls below this part of the least speed measured.
_FLOOR = 0.1

#: How many lines on either side of a node its slope depends on.
_REACH = 2


class Akima:
    """Akima's spline for each rank on [0, n], from at least one point each; rows as in `PointTable`."""

    def __init__(self, units: Floats, speeds: Floats, n: float) -> None:
        there = np.isfinite(units)
        self._floor: Floats = _FLOOR * np.where(there, speeds, np.inf).min(axis=1)
        x, y = _extended(units, speeds, there.sum(axis=1), n)
        widths = x[:, 1:] - x[:, :-1]
        lines = (y[:, 1:] - y[:, :-1]) / widths
        slopes = _node_slopes(lines)
        width, line = widths[:, _REACH:-_REACH], lines[:, _REACH:-_REACH]
        left, right = slopes[:, :-1], slopes[:, 1:]
        pieces = np.empty((*width.shape, 5))
        pieces[..., 0] = x[:, _REACH : -_REACH - 1]
        pieces[..., 1] = y[:, _REACH : -_REACH - 1]
        pieces[..., 2] = left
        pieces[..., 3] = (3 * line - 2 * left - right) / width
        pieces[..., 4] = (left + right - 2 * line) / (width * width)
        self._pieces = pieces.reshape(-1, 5)
        self._first: NDArray[np.intp] = np.arange(len(units)) * width.shape[1]
        self._inner: Floats = x[:, _REACH + 1 : -_REACH - 1]
        self._end: Floats = x[:, -_REACH - 1]

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self._first)

    def speeds(self, x: Floats) -> Floats:
        """s_i(x_i) in units a second."""
        return self.both(x)[0]

    def both(self, x: Floats) -> tuple[Floats, Floats]:
        """s_i(x_i), and s_i'(x_i), which is 0 where the speed is held at its least."""
        piece = self._first + (self._inner <= x[:, None]).sum(axis=1)
        node, level, linear, square, cube = self._pieces.take(piece, axis=0).T
        beyond = np.minimum(x, self._end) - node
        bent = beyond * cube
        speed = level + beyond * (linear + beyond * (square + bent))
        slope = linear + beyond * (2 * square + 3 * bent)
        low = speed <= self._floor
        if not low.any():
            return speed, slope
        return np.where(low, self._floor, speed), np.where(low, 0.0, slope)


def _extended(units: Floats, speeds: Floats, counts: NDArray[np.int64], n: float) -> tuple[Floats, Floats]:
    """Nodes and speeds with level lines on both sides: two left of 0, at least two right of n."""
    rows, columns = np.arange(len(units)), units.shape[1]
    last, last_speed = units[rows, counts - 1], speeds[rows, counts - 1]
    end = np.where(last < n, n, 2 * last)[:, None]
    # Columns are counted from the first point; to the left of the points and to their right, nodes lie on a
    # grid.
    column = np.arange(-1 - _REACH, columns + 1 + _REACH)
    right = column - counts[:, None]
    x = end * np.where(right >= 0, right + 1, column + 1)
    y = np.where(right >= 0, last_speed[:, None], speeds[:, :1])
    inside = np.s_[:, 1 + _REACH : 1 + _REACH + columns]
    there = right[inside] < 0
    x[inside] = np.where(there, units, x[inside])
    y[inside] = np.where(there, speeds, y[inside])
    return x, y


def _node_slopes(lines: Floats) -> Floats:
    """Akima's slope at each node except the outer two on either side, from the slopes of the lines."""
    bends = np.abs(lines[:, 1:] - lines[:, :-1])
    before, after = bends[:, :-2], bends[:, 2:]
    left, right = lines[:, 1:-2], lines[:, 2:-1]
    weight = before + after
    straight = weight == 0  # no bend on either side: the mean
    mean = (left + right) / 2
    return np.where(straight, mean, (after * left + before * right) / np.where(straight, 1.0, weight))
