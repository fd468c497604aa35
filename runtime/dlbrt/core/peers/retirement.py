"""How ranks that pass work among themselves find out that none is left anywhere.

Units are retired when they are done, or dropped after a failure. A rank without work tells rank 0 how many it
has retired in all, if that has changed; rank 0 adds up what it was told last.

Law. What a rank tells only grows, and each unit is retired by one rank; so the sum is never more than all
units, and it is all of them only when nothing is left on any rank or on its way. Every unit is retired at
some time, since ranks do what they hold, and who retires the last one tells so; so the sum gets there. Then
rank 0 tells all that the loop is over. (Counting termination in the manner of Mattern, Distributed Computing
2, 1987, with a count that cannot fall, so that one wave is enough.)
"""

from __future__ import annotations

from dlbrt.core.actions import Action, Finish, Send
from dlbrt.core.agent import InitialState
from dlbrt.core.events import Received, Worked, WorkReceived
from dlbrt.core.peers.peer import Peer
from dlbrt.core.peers.words import CompletedCount, Terminated
from dlbrt.core.profile import NO_FAILURE
from dlbrt.dist.spans import Spans

__all__ = ["TerminationDetectingPeer"]


class TerminationDetectingPeer(Peer):
    """A rank that tells what it has retired; at rank 0, who adds it up."""

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:
        super().__init__(name, rank, start, now)
        self._retired = 0
        self._last_reported = 0
        self._totals = [0] * len(start.shares) if rank == 0 else []
        self._sum = 0  # of these
        self._all = sum(map(len, start.shares)) if rank == 0 else 0

    def _worked(self, event: Worked) -> tuple[Action, ...]:
        actions = super()._worked(event)
        self._retired += event.units
        return actions

    def _cut(self, position: int) -> None:
        held = len(self.work)
        super()._cut(position)
        self._retired += held - len(self.work)

    def _accept(self, event: WorkReceived) -> Spans:
        """What of units that were given is to be done; the rest is retired."""
        units = (
            event.units if self.failed_at == NO_FAILURE else self.units.wanted(event.units, self.failed_at)
        )
        self._retired += len(event.units) - len(units)
        return units

    def _message_received(self, event: Received) -> tuple[Action, ...]:
        if self._over:
            return ()  # said before its teller knew
        match event.message:
            case CompletedCount(units) if self.rank == 0:
                self._add(event.source, units)
                return self._ends()
            case Terminated():
                self._over = True
                return (Finish(),)
        raise ValueError(f"rank {self.rank} cannot be told {event.message} by rank {event.source}")

    def _retire(self) -> tuple[Action, ...]:
        """This rank has no work: it tells how much it has retired, if that is news."""
        if self._retired == self._last_reported and self.rank:
            return ()
        self._last_reported = self._retired
        return (Send((0,), CompletedCount(self._retired)),) if self.rank else self._ends()

    def _add(self, rank: int, units: int) -> None:
        """At rank 0: a rank has retired so many units in all."""
        self._sum += units - self._totals[rank]
        self._totals[rank] = units

    def _ends(self) -> tuple[Action, ...]:
        """At rank 0: the end, if nothing is left."""
        self._add(0, self._retired)
        if self._over or self._sum < self._all:
            return ()
        self._over = True
        others = tuple(range(1, len(self.dealt)))
        return (Send(others, Terminated()), Finish()) if others else (Finish(),)
