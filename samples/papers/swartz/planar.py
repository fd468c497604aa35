"""Two-dimensional domains: by whole rows, by parts of rows, and by blocks (Swartz, section 5).

One equation has as many unknowns as the domain dimensions; breaking the domain into rows leaves one.
Whole rows do not give equal work: in the paper's example, rho = x + y on 20 x 20 for 4 processors, the rows
7.32, 12.36, 16.46 become 7, 12, 16 and the largest part is 12 % above the mean (the "perfection complex").
So each cut reports its loss; partial rows have next to none. Where neighbours communicate, the surface of a
part counts beside its volume: a block is charged its work and, for each cell that lies along another's
domain, the cost of a border cell.

Densities are arrays of shape (rows, columns), work per cell (or group of cells), any unit; WorkError as
`work.checked_density`, its place being the flat position. Parts are numbered as ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.partition.integer import Numbers, optimal, prefix_sums
from dlbrt.partition.work import checked_density
from numpy.typing import ArrayLike

from papers.swartz.integer import largest_part, parts

__all__ = ["PlanarBlock", "PlanarBlocks", "RowCut", "blocks", "partial_rows", "whole_rows"]


@dataclass(frozen=True, eq=False)
class RowCut:
    """``bounds``: P + 1 boundaries in rows, or in cells in row-major order where rows are split.

    ``work`` is that of each part, and ``loss`` how much longer the slowest takes than all would with
    their work shared ideally: max(work / speed) over sum(work) / sum(speed), less 1.
    """

    bounds: tuple[int, ...]
    work: Numbers
    loss: float


@dataclass(frozen=True, slots=True)
class PlanarBlock:
    """Rows [top, bottom) and columns [left, right) of one part, its work, and its border.

    ``border`` counts the cells along other parts' domains, a corner on both its sides.
    """

    top: int
    bottom: int
    left: int
    right: int
    work: float
    border: int

    @property
    def volume(self) -> int:
        """The number of cells."""
        return (self.bottom - self.top) * (self.right - self.left)

    @property
    def ratio(self) -> float:
        """Surface over volume; 0 for an empty block."""
        return self.border / self.volume if self.volume else 0.0


@dataclass(frozen=True, slots=True)
class PlanarBlocks:
    """A block for each rank, and the time of the slowest: (work + border x cost) / speed."""

    parts: tuple[PlanarBlock, ...]
    time: float


def whole_rows(density: ArrayLike, speeds: int | Sequence[float]) -> RowCut:
    """Parts of whole rows, for P equal parts or by speed; the largest time is least."""
    return _row_cut(_plane(density).sum(axis=1), speeds)


def partial_rows(density: ArrayLike, speeds: int | Sequence[float]) -> RowCut:
    """Parts that may begin and end within a row; boundary b is row b // columns, column b % columns."""
    return _row_cut(_plane(density).reshape(-1), speeds)


def blocks(density: ArrayLike, speeds: int | Sequence[float], border_cost: float = 0.0) -> PlanarBlocks:
    """Blocks in bands: bands of rows by the speeds of their ranks, each cut into columns by its own work.

    Of the numbers of bands 1 .. sqrt(P) and P over these (whole rows and whole columns are among them), the
    one with the least time is taken. ``border_cost`` is the work that a border cell is worth; with 0 only
    work counts. ValueError for a cost that is negative or not finite.
    """
    if not 0 <= border_cost < np.inf:
        raise ValueError(f"expected a border cost of 0 or more, found {border_cost}")
    plane = _plane(density)
    rates = _rates(speeds)
    tried = [_in_bands(plane, rates, bands, border_cost) for bands in _band_numbers(len(rates))]
    return min(tried, key=lambda found: found.time)


def _row_cut(work: Numbers, speeds: int | Sequence[float]) -> RowCut:
    prefix = prefix_sums(work)
    rates = _rates(speeds)
    bounds = optimal(prefix, rates)
    ideal = float(prefix[-1]) / sum(rates)
    return RowCut(bounds, parts(prefix, bounds), largest_part(prefix, bounds, rates) / ideal - 1)


def _band_numbers(p: int) -> list[int]:
    """1 .. sqrt(P), and P over each of these, rounded up: about square to one row or column of blocks."""
    small = range(1, isqrt(p) + 1)
    return sorted({*small, *(-(-p // bands) for bands in small)})


def _in_bands(plane: Numbers, rates: list[float], bands: int, border_cost: float) -> PlanarBlocks:
    """The blocks of so many bands, ranks dealt to bands in order, numbers differing by at most 1."""
    ranks = np.array_split(np.asarray(rates), bands)
    rows = _cut(plane.sum(axis=1), [float(band.sum()) for band in ranks])
    found: list[PlanarBlock] = []
    for (top, bottom), band in zip(pairwise(rows), ranks, strict=True):
        columns = _cut(plane[top:bottom].sum(axis=0), band.tolist())
        for left, right in pairwise(columns):
            work = float(plane[top:bottom, left:right].sum())
            border = _border((top, bottom, left, right), plane.shape)
            found.append(PlanarBlock(top, bottom, left, right, work, border))
    times = (_time(block.work + border_cost * block.border, s) for block, s in zip(found, rates, strict=True))
    return PlanarBlocks(tuple(found), max(times))


def _cut(work: Numbers, speeds: list[float]) -> tuple[int, ...]:
    """As `optimal`; where there is no work or no speed, everything to the first."""
    if not work.any() or not any(speeds):
        return (0, *[len(work)] * len(speeds))
    return optimal(prefix_sums(work), speeds)


def _border(block: tuple[int, int, int, int], shape: tuple[int, ...]) -> int:
    """Cells along the sides that are not sides of the domain."""
    top, bottom, left, right = block
    if top == bottom or left == right:
        return 0
    across, along = (top > 0) + (bottom < shape[0]), (left > 0) + (right < shape[1])
    return across * (right - left) + along * (bottom - top)


def _time(work: float, speed: float) -> float:
    return work / speed if speed else (float("inf") if work else 0.0)


def _rates(speeds: int | Sequence[float]) -> list[float]:
    return [1.0] * speeds if isinstance(speeds, int) else [float(speed) for speed in speeds]


def _plane(density: ArrayLike) -> Numbers | Floats:
    found = checked_density(density)
    if found.ndim != 2:
        raise ValueError(f"expected a density of shape (rows, columns), found shape {found.shape}")
    return found.astype(np.int64) if found.dtype.kind != "f" else found
