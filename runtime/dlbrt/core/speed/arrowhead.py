"""Matrices with entries in the first row, the first column and on the diagonal alone: solved in O(p).

The Jacobian of the partition problem is one (Clarke, Lastovetsky, Rychkov, equation 5): the first row is -1,
the first column -g_1, the diagonal g_i, g_i = (s_i - x_i s_i') / s_i^2 being dt_i / dx_i. As a full matrix
that of 10 000 ranks would take 800 MB.
"""

from __future__ import annotations

import numpy as np

from dlbrt.dist.layout import Floats
from dlbrt.records import dataclass

__all__ = ["Arrowhead"]

#: The rounding of a number, relative to it.
_ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Arrowhead:
    """The Jacobian of ``a (n - sum x)`` and ``b (t_i - t_1)``, i = 2 .. p.

    ``rates`` are g_1 .. g_p times b, ``corner`` is a.
    """

    rates: Floats
    corner: float

    def solve(self, right: Floats) -> Floats | None:
        """The y with J y = right; None where J is singular to the precision of doubles.

        y_i = (right_i + g_1 y_1) / g_i of the rows below the first, put into the first. J is singular where
        two rates are 0; where one is, so is a divisor, and the answer is None too.
        """
        first, rest = self.rates[0], self.rates[1:]
        if not rest.all():
            return None
        per, known = 1 / rest, right[1:] / rest
        divisor = 1 + first * per.sum()
        if not abs(divisor) > _ROUNDING * (1 + np.abs(first * per).sum()):
            return None
        head = (-right[0] / self.corner - known.sum()) / divisor
        found = np.concatenate(([head], known + first * head * per))
        return found if np.isfinite(found).all() else None

    def times(self, y: Floats) -> Floats:
        """J y."""
        below = self.rates[1:] * y[1:] - self.rates[0] * y[0]
        return np.concatenate(([-self.corner * y.sum()], below))

    def transposed_times(self, y: Floats) -> Floats:
        """J^T y."""
        column = self.rates * y
        column[0] = -self.rates[0] * y[1:].sum()
        return np.asarray(column - self.corner * y[0], dtype=np.float64)

    def dense(self) -> Floats:
        """All of its entries, p by p."""
        matrix = np.diag(self.rates)
        matrix[:, 0] = -self.rates[0]
        matrix[0] = -self.corner
        return matrix
