"""Partial speed functions as Akima's splines (Clarke et al., section 6.2; Akima, JACM 17, 1970).

Between nodes the function is the cubic with the nodes' slopes; a node's slope is the mean of those of the
lines to its neighbours, each weighted by how much the lines bend on the other side. So an outlier bends the
curve near itself alone, no system has to be solved, and the first derivative is continuous.

Beyond its points a function is level, down to 0 and up to n: the paper's extended models, (0, s_1) and
(n, s_k). There Akima would prolong the spline's own bend for the two lines that the slope at an end lacks;
level lines stand in, so that no end bends back. The paper's further nodes, which make up the five that its
spline needs, lie on the same level lines and change nothing: they are left out, and with them (n - x_k) / 2,
a misprint of (n + x_k) / 2 (for p <= 3 it does not lie between its neighbours).

The cubic may overshoot where points lie close beside a cliff: speeds are kept above a part of the least
measured, so that times are finite and positive whatever the points are (proposition 1 presumes it).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dlbrt.dist.layout import Floats

__all__ = ["Akima"]

#: A function is nowhere below this part of the least speed measured.
_FLOOR = 0.1

#: Lines on either side of a node that its slope depends on.
_REACH = 2


class Akima:
    """One such function for each rank on [0, n], from at least one point each; rows as in `PointTable`."""

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
        """How many."""
        return len(self._first)

    def speeds(self, x: Floats) -> Floats:
        """s_i(x_i) in units a second."""
        return self.both(x)[0]

    def slopes(self, x: Floats) -> Floats:
        """s_i'(x_i), 0 where the speed is held up at its least."""
        return self.both(x)[1]

    def both(self, x: Floats) -> tuple[Floats, Floats]:
        """s_i(x_i) and s_i'(x_i)."""
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
    # Columns are counted from the first point; where there is none left or right of it, nodes are on a grid.
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
    """Akima's slope at each node but the outer two on either side, from the slopes of the lines."""
    bends = np.abs(lines[:, 1:] - lines[:, :-1])
    before, after = bends[:, :-2], bends[:, 2:]
    left, right = lines[:, 1:-2], lines[:, 2:-1]
    weight = before + after
    straight = weight == 0  # no bend on either side: the mean
    mean = (left + right) / 2
    return np.where(straight, mean, (after * left + before * right) / np.where(straight, 1.0, weight))
