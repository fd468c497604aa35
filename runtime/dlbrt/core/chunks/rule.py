"""The one interface of all rules, and the law that makes their numbers chunks.

A rule is immutable; what changes is the `Pool`, which is immutable too and replaced by each `take`, and
what was measured. The same pool, rank and measurements give the same chunk, whoever asks. While anything is
left a chunk is at least one unit and never more than is left, whatever number a rule comes to: so every
rule ends, after at most n chunks, and deals each unit exactly once.

Rules that deal by batches (factoring) fix some numbers when a batch begins. A batch ends when its amount
has been dealt, not after P chunks: where faster ranks ask more often, it is the amount that is planned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from dlbrt.core.chunks.loop import ScheduledLoop
from dlbrt.core.chunks.measured import Measurements
from dlbrt.core.chunks.sequence import ChunkSequence
from dlbrt.records import dataclass

__all__ = ["SINGLE_BATCH", "Batch", "Pool", "Rule", "full_pool", "next_chunk", "take"]


@dataclass(frozen=True, slots=True)
class Batch:
    """What was fixed when a batch began: ``until`` is what will be left at its end, ``chunk`` an equal share.

    ``weights`` are those of the ranks, where they hold for the batch.
    """

    until: int = 0
    chunk: int = 0
    weights: tuple[float, ...] = ()


#: The only batch of rules that know none.
SINGLE_BATCH = Batch()


@dataclass(frozen=True, slots=True)
class Pool:
    """Units not yet dealt, chunks dealt so far, the batch that is being dealt (None before the first)."""

    left: int
    chunks: int = 0
    batch: Batch | None = None


class Rule(ABC):
    """A self-scheduling rule for one loop.

    ``learns``: whether measurements are of use to it; it is right without any.
    """

    learns = False

    def __init__(self, loop: ScheduledLoop) -> None:
        self.loop = loop

    @abstractmethod
    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:
        """Units that the rank should take next, as the formula gives them, 0 or too many included."""

    def begin(self, left: int, seen: Measurements) -> Batch:  # noqa: ARG002
        """The batch that begins with so much left; one that lasts to the end where the rule knows none."""
        return SINGLE_BATCH

    def sequence(self) -> ChunkSequence | None:
        """The chunks by index alone; None where they depend on the rank or on measurements."""
        return None


def full_pool(loop: ScheduledLoop) -> Pool:
    """Nothing dealt yet."""
    return Pool(loop.n)


def next_chunk(rule: Rule, pool: Pool, rank: int, seen: Measurements) -> tuple[int, Batch]:
    """The chunk for a pool that is not empty, at least 1, and the batch that it belongs to."""
    batch = pool.batch
    if batch is None or pool.left <= batch.until:
        batch = rule.begin(pool.left, seen)
    size = rule.size(pool, batch, rank, seen)
    return min(max(1, size), pool.left), batch


def take(rule: Rule, pool: Pool, rank: int, seen: Measurements) -> tuple[int, Pool]:
    """The units of the rank's next chunk, 0 if nothing is left, and the pool without them."""
    if pool.left <= 0:
        return 0, pool
    size, batch = next_chunk(rule, pool, rank, seen)
    return size, Pool(pool.left - size, pool.chunks + 1, batch)
