"""Processors of different speed: M types, or a speed for each (Swartz, section 4).

With N_j processors of type j, R_j times as fast as type 1 (R_1 = 1; the paper's R is the time of type 1 over
that of type j, so above 1 is faster), and TT the time of one type 1 processor for everything, all
finish at t_int = TT / sum N_k R_k. The boundaries are, for NSUM_{j-1} < i <= NSUM_j, NSUM_0 = 0,

    t(x_i) = sum_{k<j} R_k N_k t_int + R_j (i - NSUM_{j-1}) t_int.

The paper prints t(x_i) / R_j = TSUM_{j-1} + i t_int, which omits the R_k of the types before and does
not subtract NSUM_{j-1}: its boundaries would end at 2.84 TT in its own example of 7 + 4 nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite

from dlbrt.data.layout import Floats
from dlbrt.partition.newton import Cutter, fractions
from dlbrt.records import dataclass

__all__ = ["Types", "cuts"]


@dataclass(frozen=True, slots=True)
class Types:
    """M types of processors: how many of each, and how many times as fast as the first type each is.

    ValueError unless there are as many ratios as counts, at least one processor, counts of 0 or more and
    finite ratios above 0.
    """

    counts: tuple[int, ...]
    ratios: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.ratios) or sum(self.counts) < 1 or min(self.counts) < 0:
            raise ValueError(f"expected a count for each ratio and 1 processor or more, found {self}")
        if not all(ratio > 0 and isfinite(ratio) for ratio in self.ratios):
            raise ValueError(f"expected ratios above 0, found {self.ratios}")

    @property
    def processors(self) -> int:
        """N_eff, the number of processors."""
        return sum(self.counts)

    @property
    def speedup(self) -> float:
        """Over one type 1 processor, communication apart: sum N_j R_j."""
        return fsum(count * ratio for count, ratio in zip(self.counts, self.ratios, strict=True))

    def interval(self, total: float) -> float:
        """t_int, the wall time of all where one type 1 processor takes ``total``."""
        return total / self.speedup

    def summed(self, total: float) -> tuple[float, ...]:
        """T_j = N_j t_int: the time of all processors of each type together; their sum is T_all."""
        return tuple(count * self.interval(total) for count in self.counts)

    def speeds(self) -> tuple[float, ...]:
        """R_j for each processor, in order of types."""
        pairs = zip(self.counts, self.ratios, strict=True)
        return tuple(ratio for count, ratio in pairs for _ in range(count))

    def targets(self, total: float) -> tuple[float, ...]:
        """t(x_0) .. t(x_Neff), counted from 0, in the unit of ``total``."""
        interval, before, found = self.interval(total), 0.0, [0.0]
        for count, ratio in zip(self.counts, self.ratios, strict=True):
            found += [before + ratio * place * interval for place in range(1, count + 1)]
            before += ratio * count * interval
        found[-1] = total
        return tuple(found)


def cuts(cutter: Cutter, speeds: Sequence[float]) -> Floats:
    """The P + 1 boundaries of parts in proportion to P speeds; ValueError as `newton.fractions`."""
    return cutter.cuts_at(fractions(speeds))
