"""Densities from work that is known iteration by iteration, and other ways to cut them (section 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.partition.density import Density
from dlbrt.partition.integer import optimal
from dlbrt.partition.work import CumulativeWork, checked_density
from numpy.typing import ArrayLike

__all__ = ["as_work", "compress", "cut_by_groups"]


def compress(work: ArrayLike, group: int) -> Density:
    """The density of per-iteration work by groups; errors as `Density`, the place being the position."""
    each = checked_density(work).reshape(-1)
    return Density(len(each), 1, each).coarser(group)


def cut_by_groups(density: Density, speeds: int | Sequence[float]) -> tuple[int, ...]:
    """Boundaries between groups alone, the largest time being least of all that there are."""
    return tuple(density.edges[list(optimal(density.prefix, speeds))].tolist())


def as_work(density: Density) -> CumulativeWork:
    """A density as a cumulative work that `newton` cuts, with its density as t'."""
    widths = np.diff(density.edges)

    def slope(position: ArrayLike) -> Floats:
        place = np.clip(np.searchsorted(density.edges, position, side="right") - 1, 0, len(widths) - 1)
        return np.asarray(density.work[place] / widths[place], dtype=np.float64)

    return CumulativeWork(density.cumulative, 0.0, float(density.n), derivative=slope)
