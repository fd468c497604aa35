"""TSS: chunks that grow smaller evenly, from f = ceil(N/2P) to l = 1 (Tzen, Ni 1993).

S = ceil(2N/(f + l)) chunks, the k-th of f - k (f - l)/(S - 1). The step is a fraction, and sizes are
rounded up, so that S chunks are enough. An integer step, as in DLS4LB, is 0 as soon as f - l < S - 1, which
is wherever N/P is less than about 8 P: all chunks then are of size f, and TSS is a static schedule. Tables
in the literature were made with integer steps; ``step`` gives them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby

from dlbrt.core.chunks.loop import ScheduledLoop
from dlbrt.core.chunks.measured import Measurements
from dlbrt.core.chunks.rule import Batch, Pool, Rule
from dlbrt.core.chunks.sequence import ChunkSequence

__all__ = ["Trapezoid"]

_LAST = 1


class Trapezoid(Rule):
    """Trapezoid self-scheduling; ValueError for a ``step`` below 0."""

    def __init__(self, loop: ScheduledLoop, step: Fraction | None = None) -> None:
        super().__init__(loop)
        if step is not None and step < 0:
            raise ValueError(f"expected a step of 0 or more, found {step}")
        self.first = max(_LAST, -(-loop.n // (2 * loop.ranks)))
        self.count = -(-2 * loop.n // (self.first + _LAST))
        fitting = Fraction(self.first - _LAST, max(1, self.count - 1))
        self.step = fitting if step is None else step
        self._fall, self._per = self.step.numerator, self.step.denominator

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """f - k step, rounded up."""
        return self._size(pool.chunks)

    def sequence(self) -> ChunkSequence:
        """By runs of equal sizes."""
        return ChunkSequence(self.loop.n, self._runs())

    def _size(self, k: int) -> int:
        return max(_LAST, self.first - k * self._fall // self._per)

    def _runs(self) -> Iterator[tuple[int, int]]:
        for size, alike in groupby(self._size(k) for k in range(self.count)):
            yield len(list(alike)), size
        yield max(1, self.loop.n), _LAST  # only a step that is not the fitting one leaves anything
