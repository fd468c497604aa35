"""The speed functions of all ranks, learned pass by pass, and the partitions that follow from them.

The design of Clarke, Lastovetsky and Rychkov (section 4): each pass adds a point (d, s(d)) to each rank's
partial function, and the next points will lie at the partition of n units by the functions so far.
Piecewise linear functions are cut by lines through the origin (section 5), Akima's splines by root finding
(section 6), which falls back on lines through the same points if it finds no root; constant speeds are the
traditional algorithm (section 3), the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dlbrt.data.layout import Floats, largest_remainder
from dlbrt.records import dataclass
from dlbrt.speed import geometric, rootfinding
from dlbrt.speed.functions import Akima, ConstantSpeeds, Piecewise, SpeedFunctions, seconds
from dlbrt.speed.points import ModelKind, PointTable, SpeedPoints


@dataclass(frozen=True, slots=True)
class Partition:
    """Units of each rank, and the longest time that a rank is predicted to take, 0 if no speed is known."""

    counts: tuple[int, ...]
    seconds: float


class SpeedModels:
    """The speed functions of ``ranks`` ranks, of the kind ``model``.

    ``known`` are points measured before, one `SpeedPoints` for each rank, or none at all; else ValueError.
    """

    def __init__(self, ranks: int, model: ModelKind, known: Sequence[SpeedPoints] = ()) -> None:
        if known and len(known) != ranks:
            raise ValueError(f"expected the points of {ranks} ranks, found those of {len(known)}")
        self.model = model
        self.ranks = ranks
        self._table = PointTable.of(known) if known else PointTable(ranks)

    @property
    def points(self) -> tuple[SpeedPoints, ...]:
        """What was measured, rank by rank."""
        return self._table.points()

    @property
    def any(self) -> bool:
        """Whether the speed of any rank is known."""
        return bool(self._table.counts.any())

    def add(self, units: ArrayLike, seconds: ArrayLike) -> bool:
        """Add the units and seconds of a pass, as `PointTable.add`; whether a rank's speed has drifted."""
        return self._table.add(units, seconds)

    def functions(self, n: int) -> SpeedFunctions:
        """The functions on [0, n]; ValueError if no rank was measured."""
        if self.model is ModelKind.CONSTANT:
            return ConstantSpeeds(self._steady())
        units, speeds = self._completed(n)
        return Akima(units, speeds, float(n)) if self.model is ModelKind.AKIMA else Piecewise(units, speeds)

    def partition(self, n: int) -> Partition:
        """The best division of ``n`` units, 0 or more, by the functions so far."""
        if n < 0:
            raise ValueError(f"expected 0 or more units, found {n}")
        if not self.any or n == 0:
            return Partition(largest_remainder(np.full(self.ranks, n / self.ranks), n), 0.0)
        functions = self.functions(n)
        counts = largest_remainder(self._shares(functions, n), n)
        longest_s = float(seconds(functions, np.asarray(counts, dtype=np.float64)).max())
        return Partition(counts, longest_s)

    def predicted(self, counts: Sequence[int]) -> Floats:
        """Seconds that each rank is predicted to take for its ``counts``; ValueError as `functions`."""
        return seconds(self.functions(sum(counts)), np.asarray(counts, dtype=np.float64))

    def unit_s(self, n: int) -> Floats:
        """Seconds that a single unit takes on each rank by the functions on [0, n]."""
        return 1 / self.functions(n).speeds(np.ones(self.ranks))

    def _shares(self, functions: SpeedFunctions, n: int) -> Floats:
        """Real shares; those of Akima's splines by lines through the same points if no root is found."""
        if isinstance(functions, Piecewise):
            return geometric.balanced(functions, n)
        if isinstance(functions, Akima):
            lines = geometric.balanced(Piecewise(*self._completed(n)), n)
            root = rootfinding.balanced(functions, n, lines)
            return lines if root is None else root.x
        speeds = self._steady()
        shares: Floats = n * (speeds / speeds.sum())
        return shares

    def _steady(self) -> Floats:
        """The speed measured last on each rank; for a rank without any, the mean of the others."""
        last = self._table.last
        known = np.isfinite(last)
        if not known.any():
            raise ValueError("expected the speed of at least one rank, found none measured")
        return np.where(known, last, last[known].mean())

    def _completed(self, n: int) -> tuple[Floats, Floats]:
        """The points of each rank; a rank without any gets one with the mean of the others' last speeds."""
        most = max(1, int(self._table.counts.max()))
        units, speeds = self._table.units[:, :most], self._table.speeds[:, :most]
        unknown = self._table.counts == 0
        if unknown.any():
            units, speeds = units.copy(), speeds.copy()
            units[unknown, 0], speeds[unknown, 0] = max(1.0, n / self.ranks), self._steady()[unknown]
        return units, speeds
