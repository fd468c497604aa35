"""Large steps with local corrections for the slow modes: Heirich and Taylor, section 6.

The paper proposes "very large time steps" for disturbances of low spatial frequency, whose error in high
ones "can be quickly corrected by local iterations", and leaves the costs open. Here a step of 1, 4 or 16 is
followed by as many steps of alpha = .1 as is best (`two_scales`). What is told is how many inner iterations,
and how many exchanges, it takes until a tenth is left of the mode that lasts longest, by the gains of modes,
on 8^3, 32^3 and 100^3 processors with ends; and of the smoothest mode, simulated on 8^3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np

from papers.heirich import Diffusion, Mesh, Schedule, discrepancy, two_scales

ALPHA = 0.1
SIDES = (8, 32, 100)
LARGE = (1.0, 4.0, 16.0)
SIMULATED = 8


@dataclass(frozen=True)
class Course:
    """A schedule on side^3 processors: what is left of the smoothest mode after 0, 1 .. cycles, simulated."""

    name: str
    schedule: Schedule
    left: tuple[float, ...]


def tenth(mesh: Mesh, schedule: Schedule) -> int:
    """Cycles until a tenth at most is left of any mode."""
    return ceil(log(10) / schedule.rate(mesh))


def cost(schedule: Schedule, cycles: int) -> str:
    return f"{cycles * schedule.iterations}, {cycles * len(schedule.steps)}"


def simulated(name: str, schedule: Schedule) -> Course:
    """The smoothest mode until a tenth of it is left."""
    mesh = Mesh((SIMULATED,) * 3)
    mode = np.cos(np.pi * (np.arange(SIMULATED) + 0.5) / SIMULATED)
    diffusion = Diffusion(mesh, 10 + np.broadcast_to(mode[:, None, None], mesh.sides), schedule)
    first = discrepancy(diffusion.work)
    left = [1.0]
    while left[-1] > 0.1:
        diffusion.advance()
        left.append(discrepancy(diffusion.work) / first)
    return Course(name, schedule, tuple(left))


def schedules(mesh: Mesh) -> dict[str, Schedule]:
    """The plain step, and the best with each large one."""
    plain = {f"steps of {ALPHA} alone": Schedule.every(ALPHA, 3)}
    return plain | {f"a step of {large:g} and corrections": two_scales(mesh, ALPHA, large) for large in LARGE}
