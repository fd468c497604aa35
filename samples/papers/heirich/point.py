"""A million points on one of 512 processors: Heirich and Taylor, section 5.2, figures 2 (left) and 4.

A mesh of 8 x 8 x 8 with ends, alpha = .1, three inner iterations. The paper's figures come out if work is
moved by fluxes, alpha (v - v') over each link, and beyond an end stands a processor's own value; with the
formulas as printed a million points become 1 492 711.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from dlbrt.data.layout import Floats

from papers.heirich import Diffusion, Mesh, Schedule, UnitDiffusion, discrepancy

MESH = Mesh((8, 8, 8))
TENTH = Schedule.every(0.1, 3)
POINTS = 10**6
ALPHA = 0.1
STEPS = 520


def start() -> Floats:
    """All points on one processor of the middle."""
    work = np.zeros(MESH.sides)
    work[4, 4, 4] = POINTS
    return work


def course(steps: int) -> tuple[list[float], float]:
    """The worst discrepancy after 0, 1 .. steps, and all points in the end."""
    diffusion = Diffusion(MESH, start(), TENTH)
    found = [discrepancy(diffusion.work)]
    for _ in range(steps):
        diffusion.advance()
        found.append(discrepancy(diffusion.work))
    return found, float(diffusion.work.sum())


def first(found: Sequence[float], most: float) -> int:
    """The first step after which no more is left."""
    return next(step for step, left in enumerate(found) if left <= most)


def in_units(steps: int, *, rounded_each: bool = False) -> list[float]:
    """Whole points: the same after 0, 1 .. steps, remainders carried by links, or each flux rounded alone."""
    if rounded_each:
        return _rounded(steps)
    diffusion = UnitDiffusion(MESH, start(), TENTH)
    found = [discrepancy(diffusion.units)]
    for _ in range(steps):
        diffusion.advance()
        found.append(discrepancy(diffusion.units))
    return found


def _rounded(steps: int) -> list[float]:
    work, found = start(), [discrepancy(start())]
    for _ in range(steps):
        v = _relaxed(work)
        for axis in range(3):
            flow = np.rint(ALPHA * np.diff(v, axis=axis))
            low, high = [slice(None)] * 3, [slice(None)] * 3
            low[axis], high[axis] = slice(None, -1), slice(1, None)
            work[tuple(low)] += flow
            work[tuple(high)] -= flow
        found.append(discrepancy(work))
    return found


def mirrored(host: tuple[int, int, int], steps: int) -> float:
    """All points in the end with the printed condition u_0 = u_2, and u := v in place of moving work."""
    work = np.zeros(MESH.sides)
    work[host] = POINTS
    for _ in range(steps):
        work = _relaxed(work, "reflect")
    return float(work.sum())


def _relaxed(work: Floats, ends: Literal["edge", "reflect"] = "edge") -> Floats:
    """Three Jacobi iterations (eq. 2) with what stands beyond an end: its own value, or the mirrored one."""
    v = work
    for _ in range(3):
        full = np.pad(v, 1, mode=ends)
        near = sum(np.roll(full, shift, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for shift in (-1, 1))
        v = (work + ALPHA * near) / (1 + 6 * ALPHA)
    return v
