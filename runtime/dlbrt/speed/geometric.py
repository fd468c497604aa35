"""Partition by bisecting lines through the origin (Clarke, Lastovetsky, Rychkov, section 5.1, figure 7).

A line s = x / T meets each function at the size that takes T seconds; the sizes add up to N(T), which
increases with T. The steeper line belongs to the smaller problem, so the upper line is the lower bound of n.
The search bisects the lines through the functions' points. There are at most p k of them for p functions of k
points each, so some ten steps leave a wedge in which every function is one straight piece,
x_i(T) = a_i T / (1 - b_i T). There N(T) = n is solved by Newton's method, kept within the wedge.
"""

from __future__ import annotations

import numpy as np

from dlbrt.data.layout import Floats
from dlbrt.speed.functions import Piecewise

_MAX_STEPS = 100
_TOLERANCE = 1e-12


def balanced(functions: Piecewise, n: float) -> Floats:
    """The real sizes x_i that take the same time on all ranks and add up to ``n`` > 0 (equation 1)."""
    upper, lower = _wedge(functions, n)
    if upper == 0 or lower == np.inf:  # every function is level there
        time = lower / 2 if upper == 0 and lower < np.inf else max(2 * upper, 1.0)
        x, _ = functions.crossing(time)
        return np.asarray(x * (n / x.sum()), dtype=np.float64)
    return _within(functions, n, upper, lower)


def _wedge(functions: Piecewise, n: float) -> tuple[float, float]:
    """The seconds of two lines whose sums enclose n, with no point of a function between the lines."""
    knots = np.sort(functions.times[np.isfinite(functions.times)])
    low, high = -1, len(knots)
    while high - low > 1:
        middle = (low + high) // 2
        if functions.crossing(float(knots[middle]))[0].sum() <= n:
            low = middle
        else:
            high = middle
    upper = float(knots[low]) if low >= 0 else 0.0
    return upper, float(knots[high]) if high < len(knots) else np.inf


def _within(functions: Piecewise, n: float, upper: float, lower: float) -> Floats:
    """The sizes on the line for n between two lines, in whose wedge every function is one piece.

    Where a time hardly grows with the size, the sums of even neighbouring doubles T may enclose n. The sizes
    are then interpolated between those on the two lines.
    """
    above, below = functions.crossing(upper)[0], functions.crossing(lower)[0]
    time = (upper + lower) / 2
    for _ in range(_MAX_STEPS):
        x, slopes = functions.crossing(time)
        beyond = float(x.sum()) - n
        if abs(beyond) <= _TOLERANCE * n:
            return np.asarray(x * (n / x.sum()), dtype=np.float64)
        if beyond < 0:
            upper, above = time, x
        else:
            lower, below = time, x
        if lower - upper <= _TOLERANCE * lower:
            break
        following = time - beyond / float(slopes.sum())
        time = following if upper < following < lower else (upper + lower) / 2
    share = (n - above.sum()) / (below.sum() - above.sum())
    return np.asarray(above + share * (below - above), dtype=np.float64)
