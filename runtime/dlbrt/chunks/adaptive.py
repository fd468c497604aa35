"""Rules that measure ranks within the loop: AWF_B, AWF_C, AWF_D, AWF_E and AF.

AWF_B to AWF_E are weighted factoring with measured weights w_i = P (1/pi_i) / sum(1/pi_k) of the chunks so
far (Carino, Banicescu 2008). B and D use the weights at the beginning of the batch; C and E use those at the
request, and also halve each chunk from what is left then: w_i ceil(R/2P). B and C count the time of
computing, D and E the time from request to end.

What the publications leave open: before a rank's first measurement its weight may be known; if not, it takes
half a chunk of mFSC (DLS4LB's least chunk), since an equal share of the first batch would be too much for a
slow rank. Ranks that were measured only after a batch had begun use their newest weight in it. Ranks not yet
measured count as much as the measured ones on average (`dlbrt.chunks.rules.Weighted`).

AF is factoring with the mean and the variance of each rank measured while the loop runs (Banicescu, Liu
2000). With D = sum(sigma_i^2/mu_i) and T = 1/sum(1/mu_i), rank i takes (D + 2TR - sqrt(D^2 + 4DTR))/(2 mu_i)
of R left: so much that with high probability it ends before all ranks have done what is left. It is computed
as 2 T^2 R^2/(mu_i (D + 2TR + sqrt(D^2 + 4DTR))), the same number without the cancellation. With sigma = 0 it
is the rank's whole share of R. DLS4LB sends sigma where the formula has sigma^2. A variance needs two chunks
(`RankStatistics`): the first two of a rank are probes, as in AWF_B. Ranks that were not measured count as the
measured ones do on average.
"""

from __future__ import annotations

from math import sqrt

from dlbrt.chunks.rule import Batch, Pool, Rule
from dlbrt.chunks.rules import Weighted, halved, mfsc_size, nearest, reweighted
from dlbrt.chunks.statistics import Basis, Measurements, RankStatistics, ScheduledLoop


def probe(loop: ScheduledLoop) -> int:
    """The units of a first chunk that is taken to measure: half of mFSC's, at least 1."""
    return max(1, mfsc_size(loop) // 2)


class PerChunk(Weighted):
    """AWF_C, and AWF_E by total time."""

    learns = True

    def __init__(self, loop: ScheduledLoop, basis: Basis) -> None:
        super().__init__(loop)
        self.basis = basis
        self._probe = probe(loop)

    def begin(self, left: int, seen: Measurements) -> Batch:  # noqa: ARG002
        """Each chunk is a batch of its own."""
        return Batch(left, halved(left, self.loop.ranks))

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """By the newest weight; a probe where there is no weight."""
        return self._weighed(self._newest(rank, seen), batch)

    def _weighed(self, weight: float, batch: Batch) -> int:
        return nearest(weight * batch.chunk) if weight else min(self._probe, batch.chunk)

    def _newest(self, rank: int, seen: Measurements) -> float:
        """The rank's weight; 0 if it was neither known nor measured."""
        rate = self._rate(rank, seen.records[rank])
        if rate:
            return rate * seen.total(self._prior) / seen.total(self._rate)
        return self.weights[rank] if self.loop.known.weights else 0.0

    def _rate(self, rank: int, record: RankStatistics) -> float:  # noqa: ARG002
        return record.rate(self.basis)

    def _prior(self, rank: int, record: RankStatistics) -> float:
        return self.weights[rank] if record.rate(self.basis) else 0.0


class PerBatch(PerChunk):
    """AWF_B, and AWF_D by total time."""

    def begin(self, left: int, seen: Measurements) -> Batch:
        """Half of what is left, with the present weights; 0 for ranks not measured."""
        chunk = halved(left, self.loop.ranks)
        rates = [record.rate(self.basis) for record in seen.records]
        weights = reweighted(rates, self.weights)
        known = tuple(weight if rate else 0.0 for weight, rate in zip(weights, rates, strict=True))
        return Batch(left - chunk * self.loop.ranks, chunk, known)

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """By the weight at the batch's beginning; by the newest for ranks that had none then."""
        return self._weighed(batch.weights[rank] or self._newest(rank, seen), batch)


class AdaptiveFactoring(Rule):
    """AF."""

    learns = True

    def __init__(self, loop: ScheduledLoop) -> None:
        super().__init__(loop)
        self._probe = probe(loop)

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """By the formula; a probe is at most an equal chunk of a first batch of factoring."""
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
