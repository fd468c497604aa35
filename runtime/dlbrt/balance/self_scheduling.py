"""The self-scheduling strategies, one for each rule of `dlbrt.chunks.table`, and an agent without a master.

Where units need no data of their own, and the rule's chunks follow from their number alone
(`dlbrt.chunks.rule.ChunkSequence`), a rank that has run out adds to a counter that all share, and the number
it reads says which chunks are its own (distributed chunk calculation: Eleliemy, Ciorba, arXiv 2101.07050).
There is no master, and no rank is asked. Elsewhere a rank has to ask the rank that has the rows in any case
(`dlbrt.balance.pooled`).

A chunk may take less time than claiming it. A rank then claims several at once (`chunks_per_request`): the
chunks that it would have got if no other rank had claimed any in between. A slow rank leaves the last chunks
to the others, if they will have done them before it would have done one.

Law. The counter never returns a number twice, so each chunk is one rank's; numbers beyond the last chunk mean
that nothing is left. No rank waits for another. A rank leaves the rest to others only if it has had less than
a P-th of the units claimed until then, as far as it knows. Not all ranks can: each would have had less than a
P-th of what was claimed by the last of these moments, and together they had all of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import log, sqrt

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, BalancingCounts, Handlers, InitialState, PeerStrategy
from dlbrt.balance.peer import Peer
from dlbrt.balance.pooled import ChunkPool, PoolPeer, rule_for, shifted_work
from dlbrt.chunks.rule import ChunkSequence, chunks_per_request
from dlbrt.chunks.scheduler import WorkUnits
from dlbrt.chunks.statistics import ChunkReport, LoopStatistics, RankStatistics, ScheduledLoop
from dlbrt.chunks.table import RULES
from dlbrt.data.layout import InitialPartition
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.records import dataclass


class ChunkPositions:
    """Where the chunks of a sequence are among the units, by work where it is known to be uneven."""

    def __init__(self, units: Units, sequence: ChunkSequence, work_table: WorkTable) -> None:
        self._sequence = sequence
        self._first = units.all.runs[0].start if len(units) else 0
        table = shifted_work(work_table, self._first)
        self._work = WorkUnits(sequence.n, table if table.before(sequence.n) else UNIFORM)

    def units(self, begin: int, end: int) -> Spans:
        """The units of chunks ``begin`` to ``end`` - 1; none, perhaps, where units are expensive."""
        placed = self._work.placed(range(self._sequence.start(begin), self._sequence.start(end)))
        return Spans.of(range(self._first + placed.start, self._first + placed.stop))


class CounterPeer(Peer):
    """A rank that claims chunks of a sequence; the first P chunks are the ranks' first shares."""

    claims_chunks = True

    def __init__(
        self, name: str, rank: int, start: InitialState, now: float, sequence: ChunkSequence
    ) -> None:
        super().__init__(name, rank, start, now)
        self._sequence = sequence
        self._ranks = len(start.shares)
        self._places = ChunkPositions(self.units, sequence, start.context.work_table)
        self._claiming = False
        self._next = self._ranks  # the number of the chunk that is expected next
        self._own = sequence.size(rank)  # units of this rank's chunks
        self._taken = 0
        self._began = self._reported_at = now
        self._record = RankStatistics()

    @classmethod
    def _table(cls) -> Handlers:
        return {**super()._table(), events.ChunksClaimed: cls._chunks_claimed}

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`: whether a claim is under way."""
        return self._claiming

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`: claims that found work count as synchronizations."""
        return BalancingCounts(self._taken)

    def _record_progress(self, did: Spans, event: events.Worked) -> None:
        self._record = self._record.then(ChunkReport(self.rank, len(did), event.compute_s, event.compute_s))

    def _exhausted(self, event: events.Exhausted) -> actions.Answer:
        if self._is_better_left(event.now):
            self._over = True
            return (actions.Finish(),)
        chunk = self._sequence.chunk(self._next)
        self._claiming = True
        left = self._sequence.n - chunk.start
        return (actions.ClaimChunks(chunks_per_request(len(chunk), left, self.unit_s, self._ranks)),)

    def _is_better_left(self, now: float) -> bool:
        """Whether the others will have done the rest before this rank, a slow one, has done a chunk.

        Such a rank has had less than a P-th of what all ranks had. The last P chunks claimed may all be under
        way: they count as not yet done. The last of many chunks to be done takes longer than the mean, by
        about ln P deviations, as if times were exponential.
        """
        claimed, took_s = self._sequence.start(self._next), self._reported_at - self._began
        if self._own * self._ranks >= claimed or took_s <= 0 or not self.unit_s:
            return False
        done = self._sequence.start(max(0, self._next - self._ranks))
        rate = done / took_s
        others = rate - 1 / self.unit_s
        if others <= 0:
            return False
        left = max(0.0, self._sequence.n - done - rate * (now - self._reported_at))
        size = max(1, len(self._sequence.chunk(self._next)))
        longest = size + self._spread * sqrt(size) * log(self._ranks)
        return (left + longest * (self._ranks - 1)) / others < longest * self.unit_s

    @property
    def _spread(self) -> float:
        """The deviation of a unit's time over its mean; 0 where it is not known."""
        return sqrt(self._record.variance) / self._record.mean_s if self._record.estimated else 0.0

    def _chunks_claimed(self, event: events.ChunksClaimed) -> actions.Answer:
        """Take these chunks; some of them may have no unit, where units are expensive."""
        if not self._claiming:
            raise ValueError(f"rank {self.rank} got chunks that it had not claimed")
        self._claiming = False
        begin, end = self._ranks + event.number, self._ranks + event.number + event.count
        self._next, self._reported_at = end, event.now
        self._own += self._sequence.start(end) - self._sequence.start(begin)
        chunks = self._places.units(begin, end)
        self.work = self.units.wanted(chunks, self.failed_at)
        self._taken += bool(self.work)
        # Numbers ascend, and so do positions: nothing after a chunk behind a failure is wanted.
        self._over = not self.work and (bool(chunks) or end >= len(self._sequence))
        return (actions.Finish(),) if self._over else (actions.Resume(),)


@dataclass(frozen=True, slots=True)
class _SelfScheduling(PeerStrategy):
    name: str
    pooled = True

    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """A rank that takes chunks: by number where units have no rows, otherwise from rank 0's pool."""
        if start.begins and start.context.without_rows:
            sequence = self._sequence(start.context.units, len(start.shares), start.known)
            if sequence:
                return CounterPeer(self.name, rank, start, now, sequence)
        return PoolPeer(self.name, rank, start, now)

    def first_deal(
        self, deal: InitialPartition, known: LoopStatistics, *, without_rows: bool = False
    ) -> InitialPartition:
        """The deal with each rank's first chunk as its share."""
        ranks = len(deal.shares)
        if without_rows and (found := self._sequence(deal.units, ranks, known)):
            places = ChunkPositions(deal.units, found, deal.work_table)
            return replace(deal, shares=tuple(places.units(rank, rank + 1) for rank in range(ranks)))
        pool = ChunkPool(self.name, deal.units, ranks, deal.work_table, known)
        return replace(deal, shares=pool.first)

    def _sequence(self, units: Units, ranks: int, known: LoopStatistics) -> ChunkSequence | None:
        """The chunks by number, where they follow from it; weights then have no part in them."""
        return _sequence(self.name, ScheduledLoop(len(units), ranks, replace(known, weights=())))


@lru_cache(maxsize=8)
def _sequence(name: str, loop: ScheduledLoop) -> ChunkSequence | None:
    """The sequence, which may have as many runs as chunks, made once for all ranks of a process."""
    return rule_for(name, loop).sequence()


STRATEGIES: tuple[PeerStrategy, ...] = tuple(_SelfScheduling(name) for name in RULES)
