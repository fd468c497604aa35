"""The self-scheduling family, one strategy for each rule of `dlbrt.core.chunks.table`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from dlbrt.core.agent import Agent, PeerStrategy, Start
from dlbrt.core.chunks.loop import Known, Loop
from dlbrt.core.chunks.sequence import Sequence
from dlbrt.core.chunks.table import RULES
from dlbrt.core.peers.claiming import Claiming, Places
from dlbrt.core.peers.pooled import Pooled
from dlbrt.core.peers.store import Store, rule_for
from dlbrt.dist.amounts import Amounts
from dlbrt.dist.spans import Spans
from dlbrt.dist.units import Units
from dlbrt.records import dataclass

__all__ = ["STRATEGIES"]


@dataclass(frozen=True, slots=True)
class _SelfScheduling(PeerStrategy):
    name: str
    pooled = True

    def agent(self, rank: int, start: Start, now: float) -> Agent:
        """A rank that takes chunks: by their number where units are bare, else from the pool at rank 0."""
        if (
            start.begins
            and start.terms.bare
            and (found := self._sequence(start.terms.units, len(start.shares), start.known))
        ):
            return Claiming(self.name, rank, start, now, found)
        return Pooled(self.name, rank, start, now)

    def first_shares(
        self, units: Units, ranks: int, amounts: Amounts, known: Known, *, bare: bool = False
    ) -> tuple[Spans, ...]:
        """The first chunks."""
        if bare and (found := self._sequence(units, ranks, known)):
            places = Places(units, found, amounts)
            return tuple(places.units(rank, rank + 1) for rank in range(ranks))
        return Store(self.name, units, ranks, amounts, known).first

    def _sequence(self, units: Units, ranks: int, known: Known) -> Sequence | None:
        """The chunks by their number, where they follow from it; then weights have no part in them."""
        return _sequence(self.name, Loop(len(units), ranks, replace(known, weights=())))


@lru_cache(maxsize=8)
def _sequence(name: str, loop: Loop) -> Sequence | None:
    """Every rank of a loop asks for it, which may have as many runs as there are chunks."""
    return rule_for(name, loop).sequence()


STRATEGIES: tuple[PeerStrategy, ...] = tuple(_SelfScheduling(name) for name in RULES)
