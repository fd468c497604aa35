"""Which steps follow one another: one size over and over, or a large one and small ones that correct it.

Slow modes, smooth over the whole mesh, fall by 1 + alpha lambda a step with lambda of order 1 / m^2, so
small steps take long. Heirich and Taylor (section 6) propose very large time steps for these; what they
leave wrong in fast modes, "these components can be quickly corrected by local iterations". In the flux form
a large step needs many inner iterations to be stable by itself (`relaxation.safe_iterations`). With fewer,
modes of alternating neighbours grow, by a known factor; as many small steps follow as bring all modes down
together. A schedule is stable if

    |prod_s G_s(t)| < 1        for all -1 <= t < 1,

whatever its steps are one by one. `two_scales` looks for the one by which the slowest of all modes of a mesh
falls most for what it costs. On 8^3 processors without flux through the ends, alpha = .1, it takes a third
of the inner iterations with a large step of 1, and a sixth with one of 4.

Within a cycle amounts may be more than there was, or below 0, and a little below 0 at its end too unless all
steps are positive. They are numbers that are passed around; what can be moved of the sum of a cycle's fluxes
is seen at its end (`units`).
"""

from __future__ import annotations

from collections import Counter
from math import inf, log, pi

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.records import dataclass

from papers.heirich.mesh import Mesh
from papers.heirich.modes import slowest_eigenvalue
from papers.heirich.relaxation import DiffusionStep, safe_iterations

__all__ = ["Schedule", "two_scales"]

#: Means over neighbours at which gains are looked at: closer together at the ends, where they are largest.
_SAMPLED: Floats = np.cos(np.linspace(0, pi, 2049))[1:]

#: How many corrections, and how many numbers of inner iterations, are tried.
_MAX_CORRECTIONS = 32
_CHOICES = 24

#: A gain of less is taken for this one.
_NOTHING = 1e-300


@dataclass(frozen=True, slots=True)
class Schedule:
    """Steps that are taken in turn, over and over; stable together.

    ValueError for no step, steps of different dimensions, or a mode that would grow.
    """

    steps: tuple[DiffusionStep, ...]

    def __post_init__(self) -> None:
        if len({step.dimensions for step in self.steps}) != 1:
            raise ValueError(f"expected one step or more, of the same dimensions, found {self.steps}")
        if not all(step.is_stable for step in self.steps) and (worst := _highest(self.gains(_SAMPLED))) >= 1:
            raise ValueError(
                f"expected steps by which no mode grows, found one multiplied by {worst:.4g}: {self.steps}"
            )

    @classmethod
    def every(cls, alpha: float, dimensions: int) -> Schedule:
        """One stable step of this size; ValueError as `DiffusionStep.stable`."""
        return cls((DiffusionStep.stable(alpha, dimensions),))

    @property
    def dimensions(self) -> int:
        """Those of the mesh that it is for."""
        return self.steps[0].dimensions

    @property
    def iterations(self) -> int:
        """Inner iterations of a cycle."""
        return sum(step.iterations for step in self.steps)

    @property
    def alpha(self) -> float:
        """The largest of its steps."""
        return max(step.alpha for step in self.steps)

    @property
    def peak(self) -> float:
        """How many times larger than at its start the Euclidean norm can be within a cycle, at least 1."""
        so_far, found = np.ones_like(_SAMPLED), 1.0
        for step in self.steps:
            so_far = so_far * step.gain(_SAMPLED)
            found = max(found, _highest(so_far))
        return found

    def gains(self, t: Floats) -> Floats:
        """What a cycle multiplies modes with T x = t x by."""
        found = np.ones_like(t)
        for step, count in Counter(self.steps).items():
            found *= step.gain(t) ** count
        return found

    def rate(self, mesh: Mesh) -> float:
        """The rate at which all modes of a mesh fall: to e^-rate a cycle, or less; infinite without any."""
        return -log(max(_highest(self.gains(_modes(mesh))), _NOTHING)) if mesh.processors > 1 else inf


def two_scales(mesh: Mesh, alpha: float, large: float) -> Schedule:
    """A step of size ``large`` with corrections of size ``alpha``, as many as are best.

    The best is that by which the slowest mode falls most an inner iteration; steps of size ``alpha`` alone
    where nothing is gained by a large one. ValueError for an ``alpha`` that is not stable
    (`DiffusionStep.stable`),
    or unless ``large`` is finite and above ``alpha``.
    """
    small = Schedule.every(alpha, mesh.dimensions)
    if not alpha < large < inf:
        raise ValueError(f"expected a large step above the {alpha} of those that correct it, found {large}")
    if mesh.processors == 1:
        return small
    most = safe_iterations(large, mesh.dimensions)
    counts = sorted({max(1, most * part // _CHOICES) for part in range(1, _CHOICES + 1)})
    corrections = np.multiply.accumulate([small.gains(_modes(mesh))] * _MAX_CORRECTIONS)
    trials = [
        _corrected(DiffusionStep(large, mesh.dimensions, count), small, mesh, corrections) for count in counts
    ]
    return max(small, *trials, key=lambda schedule: schedule.rate(mesh) / schedule.iterations)


def _corrected(step: DiffusionStep, small: Schedule, mesh: Mesh, corrections: Floats) -> Schedule:
    """A large step with the number of corrections by which modes fall most an inner iteration.

    ``corrections`` are the gains of 1, 2 .. of them, by `_modes`; they stay alone where none of these
    numbers makes the step stable.
    """
    left = np.abs(step.gain(_modes(mesh)) * corrections).max(axis=1)
    rates = -np.log(np.maximum(left, _NOTHING))
    spent = step.iterations + small.iterations * np.arange(1, len(corrections) + 1)
    best = int(np.argmax(rates / spent))
    stable = rates[best] > 0 and _highest(step.gain(_SAMPLED) * small.gains(_SAMPLED) ** (best + 1)) < 1
    return Schedule((step, *small.steps * (best + 1))) if stable else small


def _modes(mesh: Mesh) -> Floats:
    """The means over neighbours that a mesh's modes have, and those between."""
    slowest = 1 - slowest_eigenvalue(mesh) / (2 * mesh.dimensions)
    return np.append(_SAMPLED[slowest > _SAMPLED], slowest)


def _highest(gains: Floats) -> float:
    return float(np.abs(gains).max())
