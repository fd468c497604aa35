"""GSS: the next chunk is a rank's share of what is left, ceil(R/P) (Polychronopoulos, Kuck 1987).

If iterations cost the same, ranks that begin at any times end within one iteration of each other. DLS4LB
and its simulator LoopSim disagree about the rounding; here it is the ceiling of the paper, whose example (N
= 100, P = 5) is a test.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlbrt.core.chunks.measured import Measurements
from dlbrt.core.chunks.rule import Batch, Pool, Rule
from dlbrt.core.chunks.sequence import ChunkSequence

__all__ = ["Guided"]


class Guided(Rule):
    """Guided self-scheduling."""

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """ceil(R/P)."""
        return -(-pool.left // self.loop.ranks)

    def sequence(self) -> ChunkSequence:
        """By runs: chunks have s units as long as more than (s - 1) P are left."""
        return ChunkSequence(self.loop.n, self._runs())

    def _runs(self) -> Iterator[tuple[int, int]]:
        left, ranks = self.loop.n, self.loop.ranks
        while left > 0:
            size = -(-left // ranks)
            count = -(-(left - (size - 1) * ranks) // size)
            yield count, size
            left -= count * size
