"""Parabolic balancing of work that can be divided at will: the flux form, conserving to the last bit.

Heirich and Taylor, section 3.2, with work as what moves: u_i -= alpha sum_j (v_i - v_j), v the Jacobi
iterate. What a link takes from one end it gives to the other; that is true of real numbers, and of doubles
only if no sum is rounded. Therefore amounts are whole multiples of a *grain*, a power of two so small that
all amounts and their sums are multiples below 2^53 of it. alpha v is rounded to the grain, once for each
processor; the flux is the difference of two such, and everything after is exact. So the total never changes,
however many steps are taken, nor does it matter in which order they are added up.

No amount exceeds the Euclidean norm of all, which does not grow from cycle to cycle, since steps are
symmetric and stable. That bounds what the grain must hold; it is about 2^-48 of the norm.
"""

from __future__ import annotations

from math import frexp, fsum, isfinite, ldexp

import numpy as np
from dlbrt.data.layout import Floats
from numpy.typing import ArrayLike

from papers.heirich.lattice import BLOCK, Lattice, amounts
from papers.heirich.mesh import Mesh
from papers.heirich.relaxation import DiffusionStep
from papers.heirich.scales import Schedule

__all__ = ["Diffusion", "discrepancy", "grain_for", "on_grain"]

#: The smallest grain: doubles further down lose digits.
_LEAST = ldexp(1.0, -1000)


def discrepancy(work: ArrayLike) -> float:
    """The worst case: the largest distance of an amount from the mean, in the unit of the amounts."""
    found = np.asarray(work, dtype=np.float64)
    return float(np.abs(found - found.mean()).max())


def grain_for(most: float, schedule: Schedule) -> float:
    """The finest power of two on which a schedule is exact for amounts of a Euclidean norm up to ``most``.

    ValueError where that is beyond doubles.
    """
    held = most * schedule.peak * (1 + 8 * schedule.dimensions * schedule.alpha)
    if not isfinite(held):
        raise ValueError(f"expected amounts whose squares have a finite sum, found a norm of {most}")
    return max(_LEAST, ldexp(1.0, frexp(held)[1] - 53))


def on_grain(work: Floats, grain: float) -> Floats:
    """The amounts on the grain, each to within one; their sum is that of the amounts, to the nearest grain.

    Amounts that are on it stay as they are.
    """
    counts = np.floor(work / grain)
    left = work - counts * grain
    ups = round(fsum(left.ravel().tolist()) / grain) if left.any() else 0
    if ups:
        counts.reshape(-1)[np.argsort(-left, axis=None, kind="stable")[:ups]] += 1
    return counts * grain


def _norm(work: Floats) -> float:
    """The Euclidean norm, also where squares are beyond doubles."""
    top = float(work.max())
    return top * float(np.linalg.norm(work / top)) if top > 0 else 0.0


class Diffusion:
    """Amounts on a mesh, balanced by a schedule, cycle by cycle.

    ``part`` (booleans of the mesh's shape) is where work moves, everywhere by default; elsewhere nothing
    changes. ``most`` is the largest Euclidean norm that amounts will have, where more is to be injected.
    ValueError for amounts of another shape, not finite or negative, and for a schedule of other dimensions.
    """

    def __init__(
        self,
        mesh: Mesh,
        work: ArrayLike,
        schedule: Schedule,
        *,
        part: ArrayLike | None = None,
        most: float = 0.0,
    ) -> None:
        given = amounts(mesh, work)
        self.lattice = Lattice(mesh, part)
        self.schedule = self.lattice.checked(schedule)
        norm = _norm(given)
        self._room = max(0.0, most - norm)
        self.grain = grain_for(max(norm, most), schedule)
        self._u = self.lattice.new()
        self._scratch = np.empty(BLOCK)
        self.lattice.grid(self._u)[...] = on_grain(given, self.grain)

    @property
    def work(self) -> Floats:
        """The amounts, in the mesh's shape."""
        return self.lattice.grid(self._u).copy()

    def inject(self, place: tuple[int, ...], amount: float) -> float:
        """Give a processor more, to the nearest grain; returns what it was given.

        ValueError for a negative amount, or where the norm might come beyond ``most``: where the norm at the
        start and all that was injected are more.
        """
        rounded = round(amount / self.grain) * self.grain
        if not 0 <= rounded <= self._room:
            raise ValueError(f"expected 0 to {self._room} more, as ``most`` allows, found {amount}")
        self._room -= rounded
        self.lattice.grid(self._u)[place] += rounded
        return rounded

    def advance(self, cycles: int = 1) -> None:
        """Go through the schedule so many times."""
        for _ in range(cycles):
            for step in self.schedule.steps:
                self._exchange(step)

    def _exchange(self, step: DiffusionStep) -> None:
        lattice, links = self.lattice, 2.0 * step.dimensions
        flow = lattice.relaxed(self._u, step)
        self._rounded(flow, step.alpha)
        for block, found in lattice.around(flow):
            found -= np.multiply(flow[block], links, out=self._scratch[: len(found)])
            if lattice.part is not None:
                found *= lattice.part[block]
            self._u[block] += found

    def _rounded(self, flow: Floats, alpha: float) -> None:
        """Make alpha v of v, on the grain: beside so large a number, doubles are that far apart."""
        anchor = 1.5 * 2.0**52 * self.grain
        flow *= alpha
        flow += anchor
        flow -= anchor
