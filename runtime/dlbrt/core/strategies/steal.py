"""``steal``: work stealing (`dlbrt.core.peers.stealing`)."""

from __future__ import annotations

from dlbrt.core.agent import Agent, InitialState, PeerStrategy
from dlbrt.core.peers.stealing import StealingPeer
from dlbrt.records import dataclass

__all__ = ["STRATEGIES"]


@dataclass(frozen=True, slots=True)
class _Steal(PeerStrategy):
    name: str = "steal"

    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """A thief, and a victim."""
        return StealingPeer(self.name, rank, start, now)


STRATEGIES: tuple[PeerStrategy, ...] = (_Steal(),)
