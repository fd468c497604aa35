"""AWF_B, AWF_C, AWF_D, AWF_E: weighted factoring whose weights are measured within the loop.

Weights are w_i = P (1/pi_i) / sum(1/pi_k) of the chunks so far (Carino, Banicescu 2008). They are those at
the beginning of the batch in B and D, at the request in C and E, where each chunk is also halved from what
is left then: w_i ceil(R/2P). B and C count the time of computing, D and E that from request to end.

What the publications leave open: before a rank's first measurement its weight may be known; if not, it
takes half a chunk of mFSC (DLS4LB's least chunk), since an equal share of the first batch would be too much
for a slow rank. Ranks that were measured only after a batch had begun use their newest weight in it. Ranks
not yet measured count as much as the measured ones on average (`weighted`).
"""

from __future__ import annotations

from dlbrt.core.chunks.fixed import mfsc_size
from dlbrt.core.chunks.loop import ScheduledLoop
from dlbrt.core.chunks.measured import Basis, Measurements, RankStatistics
from dlbrt.core.chunks.rule import Batch, Pool
from dlbrt.core.chunks.weighted import Weighted, halved, nearest, reweighted

__all__ = ["PerBatch", "PerChunk", "probe"]


def probe(loop: ScheduledLoop) -> int:
    """The units of a first chunk that is taken to measure: half of mFSC's, 1 or more."""
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
        """By the newest weight; a probe where there is none."""
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
        """Half of what is left, with the weights of now; 0 for ranks not measured."""
        chunk = halved(left, self.loop.ranks)
        rates = [record.rate(self.basis) for record in seen.records]
        weights = reweighted(rates, self.weights)
        known = tuple(weight if rate else 0.0 for weight, rate in zip(weights, rates, strict=True))
        return Batch(left - chunk * self.loop.ranks, chunk, known)

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """By the weight at the batch's beginning, the newest for ranks that had none then."""
        return self._weighed(batch.weights[rank] or self._newest(rank, seen), batch)
