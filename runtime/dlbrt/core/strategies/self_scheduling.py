"""The self-scheduling family, one strategy for each rule of `dlbrt.core.chunks.table`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from dlbrt.core.agent import Agent, InitialState, PeerStrategy
from dlbrt.core.chunks.loop import LoopStatistics, ScheduledLoop
from dlbrt.core.chunks.sequence import ChunkSequence
from dlbrt.core.chunks.table import RULES
from dlbrt.core.peers.claiming import ChunkPositions, CounterPeer
from dlbrt.core.peers.pooled import PoolPeer
from dlbrt.core.peers.store import ChunkPool, rule_for
from dlbrt.dist.amounts import WorkTable
from dlbrt.dist.spans import Spans
from dlbrt.dist.units import Units
from dlbrt.records import dataclass

__all__ = ["STRATEGIES"]


@dataclass(frozen=True, slots=True)
class _SelfScheduling(PeerStrategy):
    name: str
    pooled = True

    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """A rank that takes chunks: by their number where units are bare, else from the pool at rank 0."""
        if (
            start.begins
            and start.context.without_rows
            and (found := self._sequence(start.context.units, len(start.shares), start.known))
        ):
            return CounterPeer(self.name, rank, start, now, found)
        return PoolPeer(self.name, rank, start, now)

    def first_shares(
        self,
        units: Units,
        ranks: int,
        work_table: WorkTable,
        known: LoopStatistics,
        *,
        without_rows: bool = False,
    ) -> tuple[Spans, ...]:
        """The first chunks."""
        if without_rows and (found := self._sequence(units, ranks, known)):
            places = ChunkPositions(units, found, work_table)
            return tuple(places.units(rank, rank + 1) for rank in range(ranks))
        return ChunkPool(self.name, units, ranks, work_table, known).first

    def _sequence(self, units: Units, ranks: int, known: LoopStatistics) -> ChunkSequence | None:
        """The chunks by their number, where they follow from it; then weights have no part in them."""
        return _sequence(self.name, ScheduledLoop(len(units), ranks, replace(known, weights=())))


@lru_cache(maxsize=8)
def _sequence(name: str, loop: ScheduledLoop) -> ChunkSequence | None:
    """Every rank of a loop asks for it, which may have as many runs as there are chunks."""
    return rule_for(name, loop).sequence()


STRATEGIES: tuple[PeerStrategy, ...] = tuple(_SelfScheduling(name) for name in RULES)
