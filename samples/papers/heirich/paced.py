"""Divisible work on a mesh of processors of different speeds: times become equal, all processors at once.

The step of `uneven`, for simulation: conductances alpha min(s_i, s_j) over real links, the inner iteration

    v_i := (t_i + y v_i + sum_j alpha min(1, s_j / s_i) (v_j - v_i)) / (1 + y),

with t_i = u_i / s_i, and the flux alpha min(s_i, s_j) (v_i - v_j). A flux is rounded to the grain, at both
ends alike, so nothing is lost, as in `divisible`. The sum of u_i^2 / s_i does not grow from cycle to cycle;
so no amount exceeds sqrt(s_i) times the root of that sum, by which the grain is chosen.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from dlbrt.data.layout import Floats
from numpy.typing import ArrayLike

from papers.heirich.divisible import grain_for, on_grain
from papers.heirich.lattice import BLOCK, Lattice, amounts
from papers.heirich.mesh import Mesh
from papers.heirich.relaxation import DiffusionStep
from papers.heirich.scales import Schedule

__all__ = ["HeterogeneousDiffusion"]


class HeterogeneousDiffusion:
    """Amounts on a mesh of processors of these speeds (amounts a second), balanced cycle by cycle.

    ValueError for amounts or speeds of another shape, not finite, amounts below 0, speeds that are not above
    0, and for a schedule of other dimensions.
    """

    def __init__(self, mesh: Mesh, work: ArrayLike, speeds: ArrayLike, schedule: Schedule) -> None:
        given, paces = amounts(mesh, work), amounts(mesh, speeds)
        if not paces.all():
            raise ValueError("expected speeds above 0, found one of 0")
        self.lattice = Lattice(mesh)
        self.schedule = self.lattice.checked(schedule)
        self.grain = grain_for(sqrt(paces.max()) * float(np.linalg.norm(given / np.sqrt(paces))), schedule)
        self._u, self._v, self._next = self.lattice.new(), self.lattice.new(), self.lattice.new()
        self.lattice.grid(self._u)[...] = on_grain(given, self.grain)
        self._slow = self._filled(1 / paces)
        full = self._filled(paces)
        self._widths = [np.minimum(full[:-offset], full[offset:]) for offset in self.lattice.offsets]
        self._flow, self._sum = np.empty(BLOCK), np.empty(BLOCK)

    @property
    def work(self) -> Floats:
        """The amounts, in the mesh's shape."""
        return self.lattice.grid(self._u).copy()

    @property
    def times(self) -> Floats:
        """How long each processor is busy with what it has, in seconds."""
        found: Floats = self.lattice.grid(self._u) * self.lattice.grid(self._slow)
        return found

    def advance(self, cycles: int = 1) -> None:
        """Go through the schedule so many times."""
        for _ in range(cycles):
            for step in self.schedule.steps:
                self._exchange(step)

    def _exchange(self, step: DiffusionStep) -> None:
        v, other = self._v, self._next
        np.multiply(self._u, self._slow, out=v)
        start = self.lattice.fill(v).copy()
        for _ in range(step.iterations):
            for block in self._blocks():
                found = self._gained(v, block, step.alpha, 0.0)
                found *= self._slow[block]
                found += start[block]
                found += np.multiply(v[block], step.y, out=self._flow[: len(found)])
                np.divide(found, 1 + step.y, out=other[block])
            v, other = self.lattice.fill(other), v
        for block in self._blocks():
            self._u[block] += self._gained(v, block, step.alpha, self.grain)

    def _blocks(self) -> list[slice]:
        first = self.lattice.offsets[0]
        last = self.lattice.size - first
        return [slice(start, min(start + BLOCK, last)) for start in range(first, last, BLOCK)]

    def _gained(self, v: Floats, block: slice, alpha: float, grain: float) -> Floats:
        """What flows into each place of a block, by links rounded to a grain unless it is 0."""
        found, flow = self._sum[: block.stop - block.start], self._flow[: block.stop - block.start]
        found.fill(0)
        anchor = 1.5 * 2.0**52 * grain
        for width, offset in zip(self._widths, self.lattice.offsets, strict=True):
            for low in (0, offset):  # from the place after, then from the place before
                here = slice(block.start - low, block.stop - low)
                np.subtract(v[here.start + offset : here.stop + offset], v[here], out=flow)
                flow *= width[here]
                flow *= alpha
                if grain:
                    flow += anchor
                    flow -= anchor
                found += flow if not low else np.negative(flow, out=flow)
        return found

    def _filled(self, values: Floats) -> Floats:
        found = self.lattice.new()
        self.lattice.grid(found)[...] = values
        return self.lattice.fill(found)
