"""What chunk rules know of a loop: before it begins, and from the chunks done so far, rank by rank.

* Performance, seconds a unit (Banicescu, Velusamy, Devaprasad 2003; Carino, Banicescu 2008): pi_i = sum(s
  t_is) / sum(s n_is) over the chunks s = 1, 2, ... of rank i, so that later chunks weigh more. The time of
  a chunk is that of computing, or all from its request to its end.
* Deviation of an iteration, for AF: drivers time chunks, not iterations. If iterations are independent, the
  mean of a chunk of n has the variance sigma^2/n, so sum n (x - mean)^2 / (m - 1) over m chunks is an
  unbiased estimate of sigma^2 (summed as by West 1979, which does not cancel).

Sums over ranks are kept for the quantities that a rule has used, and follow each report (`SumTree`): a change
in a balanced tree of partial sums costs log2 P additions, and the sum depends on the values alone, not on the
order in which they came. A running total with differences added would drift, and two drivers that receive the
same reports in another order would decide otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from enum import Enum
from math import fsum, isfinite

from dlbrt.records import dataclass


class LoopStatistic(Enum):
    """What may be known of a loop and its ranks before it runs."""

    VARIATION = "the mean and the deviation of an iteration's time"
    DEVIATION = "the deviation of an iteration's time"
    OVERHEAD = "the overhead of a chunk"
    WEIGHTS = "the weights of the ranks"


@dataclass(frozen=True, slots=True)
class LoopStatistics:
    """Seconds of an iteration (mean, standard deviation) and of dealing a chunk; relative speeds of ranks.

    None, or no weights, where they are not known. ValueError for numbers that are negative or not finite, for
    weights of which none is above 0, and for a deviation with a mean of 0.
    """

    mean_s: float | None = None
    deviation_s: float | None = None
    overhead_s: float | None = None
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("mean_s", "deviation_s", "overhead_s"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value >= 0):
                raise ValueError(f"{name}: expected a finite number of 0 or more, found {value}")
        if self.mean_s == 0 and self.deviation_s:
            raise ValueError(
                f"mean_s: expected more than 0 beside a deviation of {self.deviation_s} s, found 0"
            )
        bad = [weight for weight in self.weights if not (isfinite(weight) and weight >= 0)]
        if bad or (self.weights and not any(self.weights)):
            raise ValueError(f"weights: expected numbers of 0 or more, not all 0, found {self.weights}")

    def has(self, fact: LoopStatistic) -> bool:
        """Whether the fact is known."""
        if fact is LoopStatistic.WEIGHTS:
            return bool(self.weights)
        if fact is LoopStatistic.OVERHEAD:
            return self.overhead_s is not None
        return self.deviation_s is not None and (fact is LoopStatistic.DEVIATION or self.mean_s is not None)


@dataclass(frozen=True, slots=True)
class ScheduledLoop:
    """A loop of ``n`` >= 0 units on ``ranks`` >= 1 ranks; ValueError otherwise, or unless weights fit."""

    n: int
    ranks: int
    known: LoopStatistics = field(default_factory=LoopStatistics)

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError(f"expected 0 iterations or more, found {self.n}")
        if self.ranks < 1:
            raise ValueError(f"expected 1 rank or more, found {self.ranks}")
        if self.known.weights and len(self.known.weights) != self.ranks:
            raise ValueError(f"expected {self.ranks} weights, one per rank; found {len(self.known.weights)}")

    @property
    def each(self) -> int:
        """Units of a rank's equal share, rounded up."""
        return -(-self.n // self.ranks)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights, scaled so that they add up to the number of ranks; all 1 where none are known."""
        known = self.known.weights or (1.0,) * self.ranks
        scale = self.ranks / fsum(known)
        return tuple(weight * scale for weight in known)

    def require(self, rule: str, *facts: LoopStatistic) -> None:
        """ValueError, with what is missing, unless all ``facts`` are known."""
        missing = [fact.value for fact in facts if not self.known.has(fact)]
        if missing:
            raise ValueError(f"{rule}: expected {' and '.join(missing)}, found nothing known of it")


class SumTree:
    """The sum of numbers, one for each of at least 1 place."""

    def __init__(self, values: Sequence[float]) -> None:
        self._places = 1 << (len(values) - 1).bit_length()
        self._nodes = [0.0] * self._places + [*values] + [0.0] * (self._places - len(values))
        for node in range(self._places - 1, 0, -1):
            self._nodes[node] = self._nodes[2 * node] + self._nodes[2 * node + 1]

    @property
    def total(self) -> float:
        """The sum of all."""
        return self._nodes[1]

    def put(self, place: int, value: float) -> None:
        """Replace the number at ``place``."""
        nodes, node = self._nodes, self._places + place
        if nodes[node] == value:
            return
        nodes[node] = value
        while node > 1:
            node >>= 1
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1]


#: The most units, or seconds, of a chunk; and the longest time that a clock cannot tell from 0.
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
        """The statistics with another chunk."""
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
        """Whether mean and variance are known: after two chunks."""
        return self.chunks > 1 and self.mean_s * self.units > _NO_TIME_S

    @property
    def variance(self) -> float:
        """The estimate of sigma^2; 0 below two chunks."""
        return max(0.0, self.spread) / (self.chunks - 1) if self.chunks > 1 else 0.0


#: A number computed from a rank and its record, to be summed over ranks.
Quantity = Callable[[int, RankStatistics], float]

_NOTHING = RankStatistics()


class Measurements:
    """The records of all ranks, by the reports so far."""

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
        """The sum of a quantity over ranks; it is kept up to date from the first call on."""
        tree = self._sums.get(quantity)
        if tree is None:
            tree = SumTree([quantity(rank, record) for rank, record in enumerate(self.records)])
            self._sums[quantity] = tree
        return tree.total
