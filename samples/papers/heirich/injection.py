"""Large loads at random places of a million processors: Heirich and Taylor, section 5.3, figure 5.

Processors begin with a load of 1 each. 700 times a processor at random gets up to 60 000 times as much, and
an exchange step follows; then 100 steps without. What is told is the largest load above the mean, in initial
loads, just after the last injection, an exchange later, and after the quiet steps: the first two are mostly
what was injected last, so one sample says little. Draws are numpy's, by seeds 0, 1 ..
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dlbrt.data.layout import Floats

from papers.heirich import Diffusion, Mesh, Schedule

TENTH = Schedule.every(0.1, 3)
SIDE, INJECTIONS = 100, 700
LARGEST = 60_000.0
QUIET = 100
EVERY = 100  # steps between the frames of the figure


@dataclass(frozen=True)
class Injection:
    """The largest load above the mean, and what stands in the middle plane every so many steps."""

    injected: float
    exchanged: float
    quiet: float
    conserved: bool
    frames: tuple[Floats, ...]


def above(diffusion: Diffusion) -> float:
    work = diffusion.work
    return float(work.max() - work.mean())


def injection(side: int, seed: int, injections: int) -> Injection:
    """The paper's case on side^3 processors."""
    draw, mesh, frames = np.random.default_rng(seed), Mesh((side,) * 3), list[Floats]()
    diffusion = Diffusion(mesh, np.ones(mesh.sides), TENTH, most=side**3 + injections * LARGEST)
    total = float(side**3)
    for number in range(injections):
        x, y, z = draw.integers(0, side, 3).tolist()
        total += diffusion.inject((x, y, z), draw.uniform(0, LARGEST))
        injected = above(diffusion)
        diffusion.advance()
        if number % EVERY == EVERY - 1:
            frames.append(diffusion.work[side // 2])
    exchanged = above(diffusion)
    diffusion.advance(QUIET)
    frames.append(diffusion.work[side // 2])
    return Injection(
        injected, exchanged, above(diffusion), float(diffusion.work.sum()) == total, tuple(frames)
    )
