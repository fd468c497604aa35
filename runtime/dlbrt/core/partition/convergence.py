"""Whether Newton's method will converge, cell by cell of a sampled t: what picks the method.

Swartz, appendix A: Newton on f(x) = t(x) - C converges from any start in an interval where t' and t'' keep
their signs (from the left it overshoots once, then falls monotonically), and wherever it is a contraction,
|Q(x)| < 1 with Q = f f'' / f'^2 (the print lacks the absolute value). In a cell of the table, |f| is at most
the work of the cell, so one bound of |Q| holds for every C that is cut there. That t' is continuous is
judged by the mean value theorem: the cell's difference quotient lies between the slopes at its ends.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dlbrt.core.partition.work import Floats

__all__ = ["Method", "contraction", "methods"]

#: How far the quotient may stand outside the end slopes, and how far these may be apart, as a part.
MARGIN = 0.1


class Method(IntEnum):
    """How a root is looked for inside its bracket; each falls back on the next."""

    NEWTON = 0
    SECANT = 1
    BISECTION = 2


def contraction(f: Floats, slope: Floats, curvature: Floats) -> Floats:
    """|Q| = |f f'' / f'^2| elementwise; infinite or NaN where t is flat."""
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
    """Where t' goes the same way, up or down, in a cell and its neighbours."""
    sign = np.sign(bend)
    around = np.concatenate((sign[:1], sign, sign[-1:]))
    kept: NDArray[np.bool_] = (sign != 0) & (around[:-2] == sign) & (around[2:] == sign)
    return kept
