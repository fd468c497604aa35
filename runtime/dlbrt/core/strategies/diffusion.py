"""``diffusion``: parabolic diffusion among neighbours (`dlbrt.core.peers.diffusing`)."""

from __future__ import annotations

from dlbrt.core.agent import Agent, InitialState, PeerStrategy
from dlbrt.core.peers.diffusing import DiffusionPeer
from dlbrt.records import dataclass

__all__ = ["STRATEGIES"]


@dataclass(frozen=True, slots=True)
class _Diffusion(PeerStrategy):
    name: str = "diffusion"

    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """A rank among its neighbours."""
        return DiffusionPeer(self.name, rank, start, now)


STRATEGIES: tuple[PeerStrategy, ...] = (_Diffusion(),)
