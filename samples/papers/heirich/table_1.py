"""How many exchange steps a point disturbance lasts: Heirich and Taylor, table 1, figure 1.

Two numbers for each case: what eq. (20) gives as it is printed (weight 8/n, indices to m/2 - 1), and what the
sum over all modes gives. Table 1 agrees with neither. Eq. (20) gives modes with an index 0 too large a weight
and leaves out those at m/2; by all modes tau grows with n to a limit, so that the "weak superlinear speedup"
of figure 1 is of the formula, not of the method. Runs of the method for alpha = .1 and .01 take the exchanges
that all modes say, one less on 32^3 processors, since inner iterations do not solve a step exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from papers.heirich.divisible import Diffusion
from papers.heirich.mesh import Boundary, Mesh
from papers.heirich.modes import tau, tau_as_printed
from papers.heirich.scales import Schedule

SIDES = (4, 8, 16, 20, 32, 64, 100)
ALPHAS = (0.1, 0.01, 0.001)

#: For these alpha the method is run. Of alpha = .001 a run on 10^6 processors takes 8000 exchanges, a minute.
RUN = (0.1, 0.01)


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


def exchanges(alpha: float, side: int) -> int:
    """Exchange steps, each of nu inner iterations, until a point on a periodic cube has fallen to alpha."""
    mesh = Mesh((side,) * 3, Boundary.PERIODIC)
    work = np.zeros(mesh.sides)
    work[0, 0, 0] = 1.0
    diffusion, steps = Diffusion(mesh, work, Schedule.every(alpha, 3)), 0
    while diffusion.work[0, 0, 0] - 1 / mesh.processors > alpha:
        diffusion.advance()
        steps += 1
    return steps
