"""``steal``: work stealing (`dlbrt.core.peers.stealing`)."""

from __future__ import annotations

from dlbrt.core.agent import Agent, PeerStrategy, Start
from dlbrt.core.peers.stealing import Stealing
from dlbrt.records import dataclass

__all__ = ["STRATEGIES"]


@dataclass(frozen=True, slots=True)
class _Steal(PeerStrategy):
    name: str = "steal"

    def agent(self, rank: int, start: Start, now: float) -> Agent:
        """A thief, and a victim."""
        return Stealing(self.name, rank, start, now)


STRATEGIES: tuple[PeerStrategy, ...] = (_Steal(),)
