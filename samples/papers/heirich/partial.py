"""A part of the domain is balanced while the rest works on: Heirich and Taylor, section 6.

The grid is refined along a shock as in `bow_shock.py`, and only processors in a box around the nose of it
take part. Outside nothing may change, inside all becomes equal. The paper tells the idea and no numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dlbrt.data.layout import Floats
from numpy.typing import NDArray

from papers.heirich import Diffusion, Mesh, Schedule
from papers.heirich.bow_shock import shell

TENTH = Schedule.every(0.1, 3)
SIDE, STEPS = 100, 400


@dataclass(frozen=True)
class Part:
    """What is left of the part's worst discrepancy after 0, 1 .. steps, and what happened elsewhere."""

    left: tuple[float, ...]
    processors: int
    changed: int
    lost: float
    before: Floats
    after: Floats


def box(side: int) -> NDArray[np.bool_]:
    """The middle of the domain before and behind the nose of the shock."""
    inside = np.zeros((side,) * 3, bool)
    inside[side // 10 : 3 * side // 10, 2 * side // 5 : 3 * side // 5, 2 * side // 5 : 3 * side // 5] = True
    return inside


def balanced(side: int, steps: int) -> Part:
    """So many steps of the part alone."""
    load, part = shell(side, 2.0), box(side)
    diffusion = Diffusion(Mesh(load.shape), load, TENTH, part=part)
    begin = diffusion.work
    left = [worst(begin[part])]
    for _ in range(steps):
        diffusion.advance()
        left.append(worst(diffusion.work[part]))
    end, plane = diffusion.work, np.s_[:, :, side // 2]
    changed = int((end[~part] != begin[~part]).sum())
    lost = abs(float(end.sum() - begin.sum()))
    return Part(
        tuple(each / left[0] for each in left), int(part.sum()), changed, lost, begin[plane], end[plane]
    )


def worst(load: Floats) -> float:
    return float(np.abs(load - load.mean()).max())
