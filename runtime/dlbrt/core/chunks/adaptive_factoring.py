"""AF: factoring with mean and variance of each rank measured while the loop runs (Banicescu, Liu 2000).

With D = sum(sigma_i^2/mu_i) and T = 1/sum(1/mu_i), rank i takes (D + 2TR - sqrt(D^2 + 4DTR))/(2 mu_i) of R
left: so much that with high probability it ends before what is left has been done by all. It is computed as
2 T^2 R^2/(mu_i (D + 2TR + sqrt(D^2 + 4DTR))), the same number without the cancellation. With sigma = 0 it
is the rank's whole share of R. DLS4LB sends sigma where the formula has sigma^2.

A variance needs two chunks (`measured`): the first two of a rank are probes, as in AWF_B. Ranks that were
not measured count as the measured ones do on average.
"""

from __future__ import annotations

from math import sqrt

from dlbrt.core.chunks.adaptive import probe
from dlbrt.core.chunks.loop import ScheduledLoop
from dlbrt.core.chunks.measured import Measurements, RankStatistics
from dlbrt.core.chunks.rule import Batch, Pool, Rule

__all__ = ["AdaptiveFactoring"]


class AdaptiveFactoring(Rule):
    """AF."""

    learns = True

    def __init__(self, loop: ScheduledLoop) -> None:
        super().__init__(loop)
        self._probe = probe(loop)

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """By the formula; at most an equal chunk of a first batch of factoring where it is a probe."""
        record = seen.records[rank]
        if not record.estimated:
            return min(self._probe, -(-pool.left // (2 * self.loop.ranks)))
        ranks, left, mean = self.loop.ranks, pool.left, record.mean_s
        share = ranks / seen.total(_estimated)
        d, t = seen.total(_unevenness) * share, 1 / (seen.total(_speed) * share)
        work = t * left
        return int(2 * work * work / (mean * (d + 2 * work + sqrt(d * (d + 4 * work)))) + 0.5)


def _estimated(rank: int, record: RankStatistics) -> float:  # noqa: ARG001
    return float(record.estimated)


def _speed(rank: int, record: RankStatistics) -> float:  # noqa: ARG001
    return 1 / record.mean_s if record.estimated else 0.0


def _unevenness(rank: int, record: RankStatistics) -> float:  # noqa: ARG001
    return record.variance / record.mean_s if record.estimated else 0.0
