"""What all agents have in common that balance by words: their work, what it takes, and failures of the body.

Law. Each unit is held by one rank, or is in the pool, or is on its way to one rank; it is given away by who
holds it, and done or dropped once. A failure at position f cuts what lies behind it: the failing rank tells
all others at once, and each drops of its work what has no position before f. What comes before is done, so
the failure reported is that of the lowest failing iteration. A rank that has ended does not hear of it; what
its iterations left is picked by rank 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from dlbrt.balance.actions import Action, Finish, NotifyFailure, Send
from dlbrt.balance.agent import Agent, BalancingCounts, InitialState
from dlbrt.balance.events import (
    Event,
    Exhausted,
    Failed,
    FailureNotified,
    Interrupted,
    Received,
    TimeElapsed,
    Worked,
    WorkReceived,
)
from dlbrt.balance.messages import NO_FAILURE, CompletedCount, Terminated
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units


class Peer(ABC):
    """The part of rank ``rank`` of those that the first shares are for; a kind of `dlbrt.balance.agent.Agent`.

    Of what an agent says of itself: no other takes over from it (``successor``), its rank ends by itself
    (``ends_independently``) and hears of others (``receives_messages``), no profiles come to it (``is_central``), some claim work
    (``claims_chunks``). ValueError for an event that cannot happen in the state it meets.
    """

    successor: Agent | None = None
    ends_independently = receives_messages = True
    is_central = claims_chunks = False

    #: What is done at each kind of event.
    _handlers: ClassVar[Mapping[type, Callable[[Any, Any], tuple[Action, ...]]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._handlers = cls._table()

    @classmethod
    def _table(cls) -> dict[type, Callable[[Any, Any], tuple[Action, ...]]]:
        return {
            Worked: cls._worked,
            Exhausted: cls._exhausted,
            TimeElapsed: cls._time_elapsed,
            Received: cls._message_received,
            WorkReceived: cls._work_received,
            Failed: cls._failed,
            FailureNotified: cls._failure_notified,
            Interrupted: cls._ignored,
        }

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:  # noqa: ARG002
        self.rank = rank
        self.dealt = start.shares
        self.context = start.context
        self.work = start.shares[rank]
        self._name = name
        #: What a word and an answer to it take.
        self.answer_s = start.context.exchange_s if (e := start.context.exchanges) is None else e.seconds(2)
        self._failed_at = NO_FAILURE
        self._over = False
        self._done = 0
        self._compute_s = 0.0

    def handle(self, event: Event) -> tuple[Action, ...]:
        """As `Agent.handle`."""
        return self._handlers[type(event)](self, event)

    @property
    def units(self) -> Units:
        """As `Agent.units`."""
        return self.context.units

    @property
    def strategy_name(self) -> str:
        """As `Agent.strategy_name`."""
        return self._name

    @property
    def failed_at(self) -> int:
        """As `Agent.failed_at`."""
        return self._failed_at

    @property
    def runnable(self) -> Spans:
        """As `Agent.runnable`."""
        return self.work

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`: a rank without work waits for an answer, or for its time."""
        return False

    @property
    def finished(self) -> bool:
        """As `Agent.finished`."""
        return self._over

    @property
    def timer_at(self) -> float | None:
        """As `Agent.timer_at`."""
        return None

    def due(self, now: float) -> bool:
        """As `Agent.due`."""
        timer_at = self.timer_at
        return timer_at is not None and now >= timer_at

    def transferred(self, seconds: float, size: int) -> None:  # noqa: B027 -- that is all there is to it
        """As `Agent.transferred`: what moving took is no part of what is decided."""

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`."""
        return BalancingCounts()

    @property
    def unit_s(self) -> float:
        """The mean time of a unit here so far; 0 where none is known."""
        return self._compute_s / self._done if self._done else 0.0

    def _worked(self, event: Worked) -> tuple[Action, ...]:
        if event.units > len(self.work):
            raise ValueError(f"rank {self.rank} did {event.units} units and holds {len(self.work)}")
        did, self.work = self.work.first(event.units)
        self._done += event.units
        self._compute_s += event.compute_s
        self._record_progress(did, event)
        return ()

    def _record_progress(self, did: Spans, event: Worked) -> None:  # noqa: B027 -- most keep nothing
        """What else is kept of work that was done."""

    @abstractmethod
    def _exhausted(self, event: Exhausted) -> tuple[Action, ...]:
        """No work is left here."""

    def _time_elapsed(self, event: TimeElapsed) -> tuple[Action, ...]:  # noqa: ARG002
        return ()

    def _message_received(self, event: Received) -> tuple[Action, ...]:
        raise ValueError(f"rank {self.rank} cannot be told {event.message} by rank {event.source}")

    def _work_received(self, event: WorkReceived) -> tuple[Action, ...]:
        raise ValueError(f"rank {self.rank} was given units by rank {event.source} and takes none")

    def _failed(self, event: Failed) -> tuple[Action, ...]:
        others = tuple(rank for rank in range(len(self.dealt)) if rank != self.rank)
        self._cut(event.position)
        return (NotifyFailure(event.position, others),) if others else ()

    def _failure_notified(self, event: FailureNotified) -> tuple[Action, ...]:
        self._cut(event.position)
        return ()

    def _ignored(self, event: Interrupted) -> tuple[Action, ...]:  # noqa: ARG002
        """An interrupt of the strategy that was before this one."""
        return ()

    def _cut(self, position: int) -> None:
        """Nothing from ``position`` on is to be done."""
        if position < self._failed_at:
            self._failed_at = position
            self.work = self.units.wanted(self.work, position)


# ------------------------------------------------------------------------------
# How ranks that pass work among themselves find out that none is left anywhere.
#
# Units are retired when they are done, or dropped after a failure. A rank without work tells rank 0 how many it
# has retired in all, if that has changed; rank 0 adds up what it was told last.
#
# Law. What a rank tells only grows, and each unit is retired by one rank; so the sum is never more than all
# units, and it is all of them only when nothing is left on any rank or on its way. Every unit is retired at
# some time, since ranks do what they hold, and who retires the last one tells so; so the sum gets there. Then
# rank 0 tells all that the loop is over. (Counting termination in the manner of Mattern, Distributed Computing
# 2, 1987, with a count that cannot fall, so that one wave is enough.)


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
