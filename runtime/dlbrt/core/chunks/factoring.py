"""FAC and FAC2: batches of P equal chunks, so small that the next batches can even out what they leave.

* FAC (Flynn Hummel, Schonberg, Flynn 1992): with R_j left, chunks of batch j have ceil(R_j/(x_j P)) units,
  b_j = P sigma / (2 mu sqrt(R_j)), x_0 = 1 + b^2 + b sqrt(b^2 + 2), x_j = 2 + b^2 + b sqrt(b^2 + 4). With
  sigma = 0 the first batch is all there is. What DLS4LB calls FAC is x = 2.
* FAC2: x = 2, in the form that depends on the counter k alone: ceil((N/P) (1/2)^(floor(k/P) + 1))
  (Eleliemy, Ciorba 2021). The table of 1992 follows from R_j instead; that is WF with equal weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, sqrt

from dlbrt.core.chunks.loop import LoopStatistic, ScheduledLoop
from dlbrt.core.chunks.measured import Measurements
from dlbrt.core.chunks.rule import Batch, Pool, Rule
from dlbrt.core.chunks.sequence import ChunkSequence

__all__ = ["Factoring", "Factoring2"]


class Factoring(Rule):
    """FAC; ValueError where mean and deviation are not known."""

    def __init__(self, loop: ScheduledLoop) -> None:
        loop.require("FAC", LoopStatistic.VARIATION)
        super().__init__(loop)
        mean, deviation = loop.known.mean_s or 0.0, loop.known.deviation_s or 0.0
        self._variation = deviation / mean if deviation else 0.0

    def begin(self, left: int, seen: Measurements) -> Batch:  # noqa: ARG002
        """P chunks by the formula."""
        chunk = self._chunk(left)
        return Batch(left - chunk * self.loop.ranks, chunk)

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """The chunk of the batch."""
        return batch.chunk

    def sequence(self) -> ChunkSequence:
        """One run a batch."""
        return ChunkSequence(self.loop.n, self._runs())

    def _chunk(self, left: int) -> int:
        b = self.loop.ranks * self._variation / (2 * sqrt(left))
        least = 1 if left == self.loop.n else 2
        ratio = least + b * b + b * sqrt(b * b + 2 * least)
        return max(1, ceil(left / (ratio * self.loop.ranks)))

    def _runs(self) -> Iterator[tuple[int, int]]:
        left = self.loop.n
        while left > 0:
            chunk = self._chunk(left)
            yield self.loop.ranks, chunk
            left -= chunk * self.loop.ranks


class Factoring2(Rule):
    """FAC2."""

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """By the number of chunks dealt before."""
        return self._size(pool.chunks // self.loop.ranks)

    def sequence(self) -> ChunkSequence:
        """One run a batch; n halvings, each rounded up, reach 1 and then go on."""
        halvings = self.loop.n.bit_length()
        runs = [(self.loop.ranks, self._size(j)) for j in range(halvings)]
        return ChunkSequence(self.loop.n, [*runs, (max(1, self.loop.n), 1)])

    def _size(self, batch: int) -> int:
        return -(-self.loop.n // (self.loop.ranks << (batch + 1)))
