"""What chunks have taken so far, rank by rank: all that adaptive rules see.

* Performance, seconds a unit (Banicescu, Velusamy, Devaprasad 2003; Carino, Banicescu 2008): pi_i = sum(s
  t_is) / sum(s n_is) over the chunks s = 1, 2, ... of rank i, so that later chunks weigh more. The time of
  a chunk is that of computing, or all from its request to its end.
* Deviation of an iteration, for AF: drivers time chunks, not iterations. If iterations are independent, the
  mean of a chunk of n has the variance sigma^2/n, so sum n (x - mean)^2 / (m - 1) over m chunks is an
  unbiased estimate of sigma^2 (summed as by West 1979, which does not cancel).

Sums over ranks are kept for the quantities that a rule has asked for, and follow each report.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from dlbrt.core.chunks.sums import SumTree
from dlbrt.records import dataclass

__all__ = ["Basis", "ChunkReport", "Measurements", "Quantity", "RankStatistics"]

_MOST = 1e18
_NO_TIME_S = 1e-15


class Basis(Enum):
    """Which time of a chunk counts."""

    COMPUTE = "computing alone"
    TOTAL = "from request to end, the overhead of scheduling included"


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """One chunk that a rank has done: units (work, where they differ), seconds computing, seconds in all.

    ValueError unless units are from 1e-18 to 1e18 and times from 0 to 1e18 s, so that no sum overflows.
    """

    rank: int
    units: float
    compute_s: float
    total_s: float

    def __post_init__(self) -> None:
        if not 1 / _MOST <= self.units <= _MOST:
            raise ValueError(f"expected a chunk of more than 0 units, found {self.units}")
        if not (0 <= self.compute_s <= _MOST and 0 <= self.total_s <= _MOST):
            raise ValueError(f"expected times of 0 s or more, found {self.compute_s} s, {self.total_s} s")


@dataclass(frozen=True, slots=True)
class RankStatistics:
    """All chunks of one rank: number, units and times weighted by ordinal, a unit's mean time and its spread.

    Times that a clock cannot tell from 0 count as nothing measured.
    """

    chunks: int = 0
    units: float = 0.0
    weighted_units: float = 0.0
    weighted_compute_s: float = 0.0
    weighted_total_s: float = 0.0
    mean_s: float = 0.0
    spread: float = 0.0

    def then(self, report: ChunkReport) -> RankStatistics:
        """With one chunk more."""
        s, n = self.chunks + 1, report.units
        units = self.units + n
        away = report.compute_s / n - self.mean_s
        mean = self.mean_s + away * n / units
        return RankStatistics(
            s,
            units,
            self.weighted_units + s * n,
            self.weighted_compute_s + s * report.compute_s,
            self.weighted_total_s + s * report.total_s,
            mean,
            self.spread + n * away * (report.compute_s / n - mean),
        )

    def rate(self, basis: Basis) -> float:
        """Units a second, 1/pi; 0 where nothing was measured."""
        seconds = self.weighted_compute_s if basis is Basis.COMPUTE else self.weighted_total_s
        return self.weighted_units / seconds if seconds > _NO_TIME_S else 0.0

    @property
    def estimated(self) -> bool:
        """Whether mean and variance are: after two chunks."""
        return self.chunks > 1 and self.mean_s * self.units > _NO_TIME_S

    @property
    def variance(self) -> float:
        """The estimate of sigma^2; 0 below two chunks."""
        return max(0.0, self.spread) / (self.chunks - 1) if self.chunks > 1 else 0.0


#: A number of a rank and its record, to be summed over ranks.
Quantity = Callable[[int, RankStatistics], float]

_NOTHING = RankStatistics()


class Measurements:
    """The records of all ranks, in the state after the reports so far."""

    def __init__(self, ranks: int) -> None:
        self.records = [_NOTHING] * ranks
        self._sums: dict[Quantity, SumTree] = {}

    def report(self, report: ChunkReport) -> None:
        """Take in one chunk; ValueError for a rank that is none."""
        rank = report.rank
        if not 0 <= rank < len(self.records):
            raise ValueError(f"expected a rank from 0 to {len(self.records) - 1}, found {rank}")
        record = self.records[rank] = self.records[rank].then(report)
        for quantity, tree in self._sums.items():
            tree.put(rank, quantity(rank, record))

    def total(self, quantity: Quantity) -> float:
        """The sum of a quantity over ranks; the first question makes the sum, which is kept from then on."""
        tree = self._sums.get(quantity)
        if tree is None:
            tree = SumTree([quantity(rank, record) for rank, record in enumerate(self.records)])
            self._sums[quantity] = tree
        return tree.total
