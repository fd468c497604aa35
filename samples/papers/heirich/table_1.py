"""How many exchange steps a point disturbance lasts: Heirich and Taylor, table 1, figure 1.

Two numbers for each case: what eq. (20) gives as it is printed (weight 8/n, indices to m/2 - 1), and what the
sum over all modes gives. Table 1 agrees with neither. Eq. (20) gives modes with an index 0 too large a weight
and leaves out those at m/2; by all modes tau grows with n to a limit, so that the "weak superlinear speedup"
of figure 1 is of the formula, not of the method.
"""

from __future__ import annotations

from dataclasses import dataclass

from papers.heirich.modes import tau, tau_as_printed

SIDES = (4, 8, 16, 20, 32, 64, 100)
ALPHAS = (0.1, 0.01, 0.001)


@dataclass(frozen=True)
class Case:
    """Exchange steps on side^3 processors: by eq. (20) as printed, and by all modes."""

    alpha: float
    side: int
    printed: int
    true: int


def cases(alpha: float) -> list[Case]:
    """Of all sides."""
    return [Case(alpha, side, tau_as_printed(alpha, side), tau(alpha, (side,) * 3)) for side in SIDES]
