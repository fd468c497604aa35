"""Chunks by their index alone: size and start of chunk k, for dealing by one fetch-and-add, without a master.

Whoever gets k from a shared counter knows its chunk, because every rank makes the same table from (n, P)
(distributed chunk calculation: Eleliemy, Ciorba, arXiv 2101.07050). Closed forms of the sizes differ from
the recurrences by rounding, and leave the start to a second fetch-and-add. Here runs of equal chunks are
kept, which are few (as many as there are sizes), so that size and start are exact and one counter is
enough.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

__all__ = ["ChunkSequence"]


class ChunkSequence:
    """Chunks that deal n units in order, as runs of (count, size); all chunks have 1 unit or more.

    Surplus at the end is cut off, the last chunk shortened. ValueError if the runs do not cover n units, or
    one has no unit or no chunk.
    """

    def __init__(self, n: int, runs: Iterable[tuple[int, int]]) -> None:
        self.n = n
        self._firsts: list[int] = []
        self._starts: list[int] = []
        self._sizes: list[int] = []
        index = start = 0
        for count, size in runs:
            if start >= n:
                break
            if count < 1 or size < 1:
                raise ValueError(f"expected chunks of 1 unit or more, found {count} of {size}")
            self._firsts.append(index)
            self._starts.append(start)
            self._sizes.append(size)
            count = min(count, -(-(n - start) // size))
            index += count
            start += count * size
        if start < n:
            raise ValueError(f"expected chunks of {n} units in all, found {start}")
        self._count = index

    def __len__(self) -> int:
        return self._count

    @property
    def runs(self) -> int:
        """How many runs the table has."""
        return len(self._sizes)

    def __iter__(self) -> Iterator[int]:
        """The sizes, in order."""
        return (len(self.chunk(k)) for k in range(self._count))

    def chunk(self, k: int) -> range:
        """The units of chunk ``k`` >= 0; none from the last on, so that a counter may run over."""
        if k >= self._count:
            return range(self.n, self.n)
        run = bisect_right(self._firsts, k) - 1
        size = self._sizes[run]
        start = self._starts[run] + (k - self._firsts[run]) * size
        return range(start, min(start + size, self.n))

    def start(self, k: int) -> int:
        """The first unit of chunk ``k``; n from the last on."""
        return self.chunk(k).start

    def size(self, k: int) -> int:
        """The units of chunk ``k``; 0 from the last on."""
        return len(self.chunk(k))
