"""What moving data takes: messages go side by side, but one at a time from and to each rank.

A message of b bytes takes L + b / B (Zaki, Li, Parthasarathy, eq. 1.3.5). A giver sends in the order of the
plan, from when it carries out the movement; a rank goes on when all that it gives and takes has gone over.
What rank 0 takes needs no message, since it has the rows already (`dlbrt.mpi.team`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dlbrt.core.model.network import Network
from dlbrt.dist.transfer import Transfer

__all__ = ["Links", "PendingRedistribution"]


class Links:
    """The messages of one network of so many ranks; ``unit_bytes`` move with a unit."""

    def __init__(self, network: Network, ranks: int, unit_bytes: float) -> None:
        self._network = network
        self._unit_bytes = unit_bytes
        self._sends_from = [0.0] * ranks
        self._takes_from = [0.0] * ranks

    def size(self, rank: int, transfers: Sequence[Transfer]) -> int:
        """The bytes that a rank sends."""
        units = sum(len(t.spans) for t in transfers if t.source == rank and t.target != 0)
        return round(units * self._unit_bytes)

    def send(self, rank: int, transfers: Sequence[Transfer], now: float) -> dict[int, float]:
        """A rank sends its part: when each target has it; its own link is free when the last one has."""
        arrives: dict[int, float] = {}
        for transfer in transfers:
            target = transfer.target
            if transfer.source != rank or target == 0:
                continue
            begin = max(now, self._sends_from[rank], self._takes_from[target])
            end = begin + self._network.message_s(len(transfer.spans) * self._unit_bytes)
            self._sends_from[rank] = self._takes_from[target] = end
            arrives[target] = max(end, arrives.get(target, 0.0))
        return arrives

    def give(self, source: int, target: int, units: int, now: float) -> float:
        """A rank sends units to another: when they are there, their data and the word of them."""
        begin = max(now, self._sends_from[source], self._takes_from[target])
        size = units * self._unit_bytes if target else 0.0
        end = begin + self._network.message_s(size)
        self._sends_from[source] = self._takes_from[target] = end
        return end


class PendingRedistribution:
    """One redistribution under way: who ``arrived`` to it when, and what is still to come to whom."""

    def __init__(self, transfers: Sequence[Transfer]) -> None:
        self.arrived: dict[int, float] = {}
        self._given: dict[int, list[Transfer]] = {}
        for transfer in transfers:
            self._given.setdefault(transfer.source, []).append(transfer)
        self._awaited = Counter(t.target for t in transfers if t.target != 0)
        self._ready_s: dict[int, float] = {}

    def given(self, rank: int) -> Sequence[Transfer]:
        """What a rank gives."""
        return self._given.get(rank, ())

    def concerns(self, rank: int) -> bool:
        """Whether a rank gives anything, or takes what takes time."""
        return rank in self._given or rank in self._awaited

    def pass_by(self, rank: int, now: float) -> None:
        """A rank has come that it does not concern, and goes on."""
        self.arrived[rank] = now

    def join(self, rank: int, now: float, links: Links) -> list[tuple[int, float]]:
        """A rank has come; the ranks of which it is now known when they may go on, and when."""
        arrives = links.send(rank, self.given(rank), now)
        self.arrived[rank] = now
        self._ready_s[rank] = max(now, self._ready_s.get(rank, now), *arrives.values())
        for target, when in arrives.items():
            self._awaited[target] -= 1
            self._ready_s[target] = max(when, self._ready_s.get(target, when))
        return [(r, self._ready_s[r]) for r in (rank, *arrives) if r in self.arrived and not self._awaited[r]]
