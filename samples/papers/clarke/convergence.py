"""The paper's loop on machines like its own (`clusters`): passes until balanced, data moved."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from dlbrt.emulation import WIDTH
from dlbrt.speed.points import ModelKind

from papers.clarke.clusters import DOUBLE, MB, TARGET, cluster, passes

__all__ = ["LEARNING", "WIDTHS", "Convergence", "converged", "convergence"]

LEARNING = (ModelKind.PIECEWISE, ModelKind.AKIMA)
#: Cliffs that are sharper than those chosen to meet the paper's nine iterations.
WIDTHS = (0.08, 0.04, 0.02)


@dataclass(frozen=True, slots=True)
class Convergence:
    """One run of the loop.

    ``passes`` until the imbalance is at most 0.1, and ``near_optimum`` until the makespan is within 10 % of
    the optimum; 0 for more than were waited for. ``moved_mb`` is the largest amount of data moved at a pass.
    """

    model: str
    n: int
    cluster: int
    width: float
    passes: int
    near_optimum: int
    moved_mb: float


def converged(model: ModelKind, n: int, number: int, width: float = WIDTH) -> Convergence:
    """Run the loop of ``model`` for n rows on a cluster."""
    machine = cluster(number, n, width)
    found, optimum = passes(machine, model, n), machine.optimum(n)
    near = [k for k, each in enumerate(found, 1) if each.makespan <= 1.1 * optimum]
    moved = [
        sum(abs(a - b) for a, b in zip(one.counts, other.counts, strict=True)) / 2
        for one, other in pairwise(found)
    ]
    balanced = len(found) if found[-1].imbalance <= TARGET else 0
    most = DOUBLE * n * max(moved, default=0) / MB
    return Convergence(model.value, n, number, width, balanced, near[0] if near else 0, most)


def convergence() -> list[Convergence]:
    """The paper's claims, and narrower cliffs."""
    cases = [
        (model, n, number, WIDTH) for model in ModelKind for n in (8000, 11000, 12000) for number in (1, 2)
    ]
    cases += [
        (model, n, number, width)
        for model in LEARNING for n in (11000, 12000) for number in (1, 2) for width in WIDTHS
    ]  # fmt: skip
    return [converged(*case) for case in cases]
