"""By how much the ranks' relative speeds differ from run to run of a loop: whether the next can go by them.

Per rank it is the standard deviation of the logarithm of its speed relative to the mean rank's of the same
run, weighted by the time that the run took. So a single disturbed run among many counts little.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, log, sqrt

#: With fewer runs, or less computing on a rank (in seconds), differences are chance.
_LEAST_RUNS, _LEAST_S = 3, 0.1


class SpeedVariation:
    """The speeds of a number of ranks, run by run."""

    def __init__(self, ranks: int) -> None:
        self._runs = 0
        self._seconds = [0.0] * ranks
        self._weight = 0.0
        self._sums = [0.0] * ranks
        self._squares = [0.0] * ranks

    def add(self, work: Sequence[float], seconds: Sequence[float]) -> None:
        """A run in which each rank did that much work; one in which a rank did none says nothing."""
        if not all(done > 0 and taken > 0 for done, taken in zip(work, seconds, strict=True)):
            return
        found = [log(done / taken) for done, taken in zip(work, seconds, strict=True)]
        mean, weight = fsum(found) / len(found), fsum(seconds)
        self._runs += 1
        self._weight += weight
        for rank, (each, taken) in enumerate(zip(found, seconds, strict=True)):
            self._seconds[rank] += taken
            self._sums[rank] += weight * (each - mean)
            self._squares[rank] += weight * (each - mean) ** 2

    @property
    def factor(self) -> float | None:
        """The typical factor, of the rank for which it is the largest: 1 or more; None if too little ran."""
        if self._runs < _LEAST_RUNS or min(self._seconds) < _LEAST_S:
            return None
        means = [total / self._weight for total in self._sums]
        variances = (total / self._weight - mean**2 for total, mean in zip(self._squares, means, strict=True))
        return exp(sqrt(max(0.0, *variances)))
