"""The interface of all self-scheduling rules, and the law that makes their numbers chunks.

A rule is immutable; what changes is the `Pool`, which is immutable too and replaced after each chunk, and
what was measured. The same pool, rank and measurements always give the same chunk. While anything is
left a chunk is at least one unit and never more than is left, whatever number a rule computes: so every rule
ends, after at most n chunks, and deals each unit exactly once.

Rules that deal by batches (factoring) fix some numbers when a batch begins. A batch ends when its amount has
been dealt, not after P chunks: where faster ranks ask more often, the amount is what was planned.

Chunks by index (`ChunkSequence`) are for dealing by one fetch-and-add, without a master. A rank that gets k
from a shared counter knows its chunk, because every rank makes the same table from (n, P) (distributed chunk
calculation: Eleliemy, Ciorba, arXiv 2101.07050). Closed forms of the sizes differ from the recurrences by
rounding, and leave the start to a second fetch-and-add. Here runs of equal chunks are kept, which are few (as
many as there are sizes), so that size and start are exact and one counter is enough.

Chunks are taken together where asking for one takes longer than doing it (`chunks_per_request`), since a
rule's chunks may take microseconds. A rank then takes as many at once as last about `CHUNK_S`: the chunks
that it would have got if no other rank had asked in between. Near the end, where it matters who has the last
chunks, it takes one: never more than a part of what is left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable

from dlbrt.chunks.statistics import Measurements, ScheduledLoop
from dlbrt.parameters import CHUNK_S
from dlbrt.records import dataclass

#: A request takes no more than 1 / (_PART P) of what is left.
_PART = 2


class ChunkSequence:
    """Chunks that deal n units in order, made of runs of (count, size); every chunk has at least 1 unit.

    Surplus at the end is cut off, and the last chunk shortened. ValueError if the runs do not cover n units,
    or a run has no unit or no chunk.
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

    def chunk(self, k: int) -> range:
        """The units of chunk ``k`` >= 0; none after the last chunk, so that a counter may run over."""
        if k >= self._count:
            return range(self.n, self.n)
        run = bisect_right(self._firsts, k) - 1
        size = self._sizes[run]
        start = self._starts[run] + (k - self._firsts[run]) * size
        return range(start, min(start + size, self.n))

    def start(self, k: int) -> int:
        """The first unit of chunk ``k``; n after the last chunk."""
        return self.chunk(k).start

    def size(self, k: int) -> int:
        """How many units chunk ``k`` has; 0 after the last chunk."""
        return len(self.chunk(k))


@dataclass(frozen=True, slots=True)
class Batch:
    """What was fixed when a batch began: ``until`` is what will be left at its end, ``chunk`` an equal share.

    ``weights`` are those of the ranks, where they hold for the batch.
    """

    until: int = 0
    chunk: int = 0
    weights: tuple[float, ...] = ()


#: The only batch of rules without batches.
SINGLE_BATCH = Batch()


@dataclass(frozen=True, slots=True)
class Pool:
    """Units not yet dealt, chunks dealt so far, the batch being dealt (None before the first)."""

    left: int
    chunks: int = 0
    batch: Batch | None = None


class Rule(ABC):
    """A self-scheduling rule for one loop; ``learns``: whether measurements, if any, are of use to it."""

    learns = False

    def __init__(self, loop: ScheduledLoop) -> None:
        self.loop = loop

    @abstractmethod
    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:
        """How many units the rank should take next by the formula, even 0 or too many."""

    def begin(self, left: int, seen: Measurements) -> Batch:  # noqa: ARG002
        """The batch that begins with so much left; it lasts to the end where the rule has no batches."""
        return SINGLE_BATCH

    def sequence(self) -> ChunkSequence | None:
        """The chunks by index alone; None where they depend on the rank or on measurements."""
        return None


def next_chunk(rule: Rule, pool: Pool, rank: int, seen: Measurements) -> tuple[int, Batch]:
    """The size of the next chunk of a pool that is not empty, and the batch that the chunk belongs to."""
    batch = pool.batch
    if batch is None or pool.left <= batch.until:
        batch = rule.begin(pool.left, seen)
    size = rule.size(pool, batch, rank, seen)
    return min(max(1, size), pool.left), batch


def chunks_per_request(size: int, left: float, unit_s: float, ranks: int) -> int:
    """How many chunks of ``size`` units a rank takes at once while ``left`` units are left; at least 1.

    ``unit_s`` is how long a unit takes the rank, 0: not known.
    """
    if unit_s <= 0 or size <= 0:
        return 1
    return max(1, int(min(CHUNK_S / unit_s, left / (_PART * ranks)) / size))
