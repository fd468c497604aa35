"""A grid refined along a bow shock, on a million processors: Heirich and Taylor, section 5.1, figures 2, 3.

The load is 1 everywhere and 2 where the shock is: in the outer of the paraboloid shells before a body and
two boosters beside it. The paper does not say how thick the shell is, and its 170 steps until a tenth of the
disturbance is left depend on that: the thinner, the more of it is in high spatial frequencies, which go
first. So here are shells of 1, 1.3 and 2 processors, with at most 400 steps; what was recomputed is of a
front of another shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dlbrt.data.layout import Floats

from papers.heirich import Diffusion, Mesh, Schedule, discrepancy

TENTH = Schedule.every(0.1, 3)
SIDE, PATIENCE = 100, 400
FRAMES = (0, 10, 40, 70)

#: Thicknesses in processors.
SHELLS = (1.0, 1.3, 2.0)


@dataclass(frozen=True)
class Shock:
    """What is left of the worst discrepancy after 0, 1 .. steps, middle planes by steps, the load lost."""

    thickness: float
    left: tuple[float, ...]
    frames: dict[int, Floats]
    lost: float


def shell(side: int, thickness: float) -> Floats:
    """The load: 1, and 2 in the shell."""
    x, y, z = (np.indices((side,) * 3) + 0.5) / side
    fronts = []
    for nose, middle, curve in ((0.2, 0.5, 1.6), (0.27, 0.2, 2.4), (0.27, 0.8, 2.4)):
        across = (y - middle) ** 2 + (z - 0.5) ** 2
        fronts.append((x - nose - curve * across) / np.sqrt(1 + 4 * curve**2 * across))
    distance: Floats = side * np.max(fronts, axis=0)
    return np.where(np.abs(distance) <= thickness / 2, 2.0, 1.0)


def shock(side: int, thickness: float, patience: int = PATIENCE) -> Shock:
    """Until a tenth is left, and for 70 steps at least."""
    load = shell(side, thickness)
    diffusion, first = Diffusion(Mesh(load.shape), load, TENTH), discrepancy(load)
    left, frames = [1.0], {0: load[:, :, side // 2]}
    while len(left) <= FRAMES[-1] or (left[-1] > 0.1 and len(left) <= patience):
        diffusion.advance()
        left.append(discrepancy(diffusion.work) / first)
        if len(left) - 1 in FRAMES:
            frames[len(left) - 1] = diffusion.work[:, :, side // 2]
    return Shock(thickness, tuple(left), frames, float(load.sum() - diffusion.work.sum()))


def steps(found: Shock) -> str:
    """Until a tenth is left."""
    return str(next((step for step, left in enumerate(found.left) if left <= 0.1), f"> {PATIENCE}"))
