"""What a chunk rule is told before the loop begins."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from math import fsum, isfinite

from dlbrt.records import dataclass

__all__ = ["LoopStatistic", "LoopStatistics", "ScheduledLoop"]


class LoopStatistic(Enum):
    """What may be known of a loop and its ranks before it runs."""

    VARIATION = "the mean and the deviation of an iteration's time"
    DEVIATION = "the deviation of an iteration's time"
    OVERHEAD = "the overhead of a chunk"
    WEIGHTS = "the weights of the ranks"


@dataclass(frozen=True, slots=True)
class LoopStatistics:
    """Seconds of an iteration (mean, standard deviation) and of dealing a chunk; relative speeds of ranks.

    None, or no weights, where it is not known. ValueError for what is negative or not finite, for weights of
    which none is above 0, and for a deviation beside a mean of 0.
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
        """Whether that is known."""
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
