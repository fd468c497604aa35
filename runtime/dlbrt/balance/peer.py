"""What agents have in common that balance by messages from rank to rank: their work, failures, the end.

Law of work. Each unit is held by one rank, or is in the pool, or is on its way to one rank; only its holder
gives it away, and it is done or dropped once. A failure at position f cuts the work behind it: the failing
rank tells all others at once, and each drops the part of its work that has no position before f. The units
before f are done, so the failure reported is that of the lowest failing iteration. A rank that has ended does
not learn of the failure; rank 0 chooses among the effects that its iterations left.

Law of termination, where ranks pass work among themselves (`TerminationDetectingPeer`). A unit is retired
when it is done, or dropped after a failure. A rank without work tells rank 0 how many units it has retired in
all, if the number has changed; rank 0 adds up the latest numbers. These numbers only grow, and each unit is
retired by one rank; so the sum never exceeds the number of all units, and reaches it only when nothing is
left on any rank or on its way. Every unit is retired at some time, since ranks do what they hold, and the
rank that retires the last one reports it; so the sum gets there. Then rank 0 tells all that the loop is over.
(Counting termination in the manner of Mattern, Distributed Computing 2, 1987, with a count that cannot fall,
so that one wave is enough.) Where a message takes much longer than sending it, ranks tell all others how many
units they have retired, and each rank adds the numbers up: so the loop is over one message after the last
unit, not two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, BalancingCounts, EventHandler, Handlers, InitialState
from dlbrt.balance.messages import NO_FAILURE, CompletedCount, StealUpdate, Terminated
from dlbrt.data.spans import Spans
from dlbrt.parameters import COUNT_S


class Peer(EventHandler, ABC):
    """The part of rank ``rank`` in the loop; a kind of `dlbrt.balance.agent.Agent`.

    ValueError for an event that cannot happen in the state it meets.
    """

    successor: Agent | None = None
    ends_independently = receives_messages = True
    is_central = claims_chunks = False
    serves: Container[type] = ()

    @classmethod
    def _table(cls) -> Handlers:
        return {
            events.Worked: cls._worked,
            events.Exhausted: cls._exhausted,
            events.TimeElapsed: cls._time_elapsed,
            events.Received: cls._message_received,
            events.WorkReceived: cls._work_received,
            events.Failed: cls._failed,
            events.FailureNotified: cls._failure_notified,
            events.Interrupted: lambda *_: (),  # an interrupt of the strategy before this one
        }

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:  # noqa: ARG002
        self.rank = rank
        self.dealt = start.shares
        self.context = start.context
        self.units = start.context.units
        self.work = start.shares[rank]
        self.strategy_name = name
        #: What a message and the answer to it take.
        self.answer_s = start.context.exchange_s if (e := start.context.exchanges) is None else e.seconds(2)
        self.failed_at = NO_FAILURE
        self._over = False
        self._done = 0
        self._compute_s = 0.0

    @property
    def runnable(self) -> Spans:
        """As `Agent.runnable`."""
        return self.work

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`: a rank without work waits for an answer, or for its timer."""
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

    def transferred(self, seconds: float, size: int) -> None:
        """As `Agent.transferred`: no decision depends on it."""

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`."""
        return BalancingCounts()

    @property
    def unit_s(self) -> float:
        """The mean time of a unit here so far; 0 where none is known."""
        return self._compute_s / self._done if self._done else 0.0

    def _worked(self, event: events.Worked) -> actions.Answer:
        if event.units > len(self.work):
            raise ValueError(f"rank {self.rank} did {event.units} units and holds {len(self.work)}")
        did, self.work = self.work.first(event.units)
        self._done += event.units
        self._compute_s += event.compute_s
        self._record_progress(did, event)
        return ()

    def _record_progress(self, did: Spans, event: events.Worked) -> None:
        """Keep what the strategy needs to know of work that was done."""

    @abstractmethod
    def _exhausted(self, event: events.Exhausted) -> actions.Answer:
        """Handle that no work is left here."""

    def _time_elapsed(self, event: events.TimeElapsed) -> actions.Answer:  # noqa: ARG002
        return ()

    def _message_received(self, event: events.Received) -> actions.Answer:
        raise ValueError(f"rank {self.rank} cannot take {event.message} of rank {event.source}")

    def _work_received(self, event: events.WorkReceived) -> actions.Answer:
        raise ValueError(f"rank {self.rank} received units of rank {event.source} and takes none")

    def _failed(self, event: events.Failed) -> actions.Answer:
        others = tuple(rank for rank in range(len(self.dealt)) if rank != self.rank)
        self._cut(event.position)
        return (actions.NotifyFailure(event.position, others),) if others else ()

    def _failure_notified(self, event: events.FailureNotified) -> actions.Answer:
        self._cut(event.position)
        return ()

    def _cut(self, position: int) -> None:
        """Drop the work from ``position`` on."""
        if position < self.failed_at:
            self.failed_at = position
            self.work = self.units.wanted(self.work, position)

    def _wanted(self, units: Spans) -> Spans:
        """The part of units received that is still to be done."""
        return units if self.failed_at == NO_FAILURE else self.units.wanted(units, self.failed_at)


class OutgoingLink:
    """When what a rank sends will have arrived, by the network; its link takes one message at a time.

    ``message_s`` is what a message takes, ``unit_s`` what the rows of a unit take besides, and ``root_s``
    what those take that rank 0 lacks.
    """

    def __init__(self, message_s: float, unit_s: float, root_s: float = 0.0) -> None:
        self.unit_s = unit_s
        self._root_s = root_s
        self._message_s = message_s
        self._free_at = 0.0

    def unit_s_to(self, target: int) -> float:
        """What the rows of a unit take to that rank."""
        return self.unit_s if target else self._root_s

    def delay_s(self, now: float) -> float:
        """How long the first unit sent now would take, without its own rows."""
        return max(0.0, self._free_at - now) + self._message_s

    def give(self, now: float, units: int, target: int) -> float:
        """Send units and their rows; when they arrive. Those without rows wait for nothing."""
        if not target and not self._root_s:
            return now
        self._free_at = max(now, self._free_at) + self._message_s + units * self.unit_s_to(target)
        return self._free_at


class TerminationDetectingPeer(Peer):
    """A rank that reports how many units it has retired to ``_counting`` ranks, which add the numbers up.

    These are rank 0, which tells the others when the loop is over, or all ranks where messages are dear.
    """

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:
        super().__init__(name, rank, start, now)
        self._phase = start.phase
        self._retired = 0
        self._last_reported = 0
        others = tuple(other for other in range(len(start.shares)) if other != rank)
        self._all_count = self.answer_s / 2 >= len(others) * COUNT_S
        self._counting = others if self._all_count else (0,) if rank else ()
        counts = self._all_count or rank == 0
        self._totals = [0] * len(start.shares) if counts else []
        self._sum = 0  # of the totals
        self._all = sum(map(len, start.shares)) if counts else 0
        byte_s = self.context.parameters.byte_s
        self._link = OutgoingLink(
            self.answer_s / 2, self.context.unit_bytes * byte_s, self.context.root_bytes * byte_s
        )

    def _worked(self, event: events.Worked) -> actions.Answer:
        answer = super()._worked(event)
        self._retired += event.units
        return answer

    def _cut(self, position: int) -> None:
        held = len(self.work)
        super()._cut(position)
        self._retired += held - len(self.work)

    def _accept(self, event: events.WorkReceived) -> Spans:
        """The part of the units received that is still to be done; the rest is retired."""
        units = self._wanted(event.units)
        self._retired += len(event.units) - len(units)
        return units

    def _message_received(self, event: events.Received) -> actions.Answer:
        if self._over:
            return ()  # its sender did not know yet
        match event.message:
            case CompletedCount(_, phase) if phase != self._phase:
                return ()
            case StealUpdate():  # of a request that has been answered
                return ()
            case CompletedCount(units) if self._totals:
                self._add(event.source, units)
                return self._ends()
            case Terminated():
                self._over = True
                return (actions.Finish(),)
        raise ValueError(f"rank {self.rank} cannot take {event.message} of rank {event.source}")

    def _retire(self) -> actions.Answer:
        """Report, without work, how many units this rank has retired, if the number has changed."""
        return (*self._report(), *self._ends()) if self._totals else self._report()

    def _report(self) -> actions.Answer:
        """Report the number. One message goes to each rank, not one to all: none waits for another."""
        if self._retired == self._last_reported:
            return ()
        self._last_reported = self._retired
        return tuple(
            actions.Send((rank,), CompletedCount(self._retired, self._phase)) for rank in self._counting
        )

    def _add(self, rank: int, units: int) -> None:
        """Where counts are added up: take in that a rank has retired ``units`` in all."""
        if units > self._totals[rank]:
            self._sum += units - self._totals[rank]
            self._totals[rank] = units

    def _ends(self) -> actions.Answer:
        """Where counts are added up: end the loop if nothing is left."""
        self._add(self.rank, self._retired)
        if self._over or self._sum < self._all:
            return ()
        self._over = True
        if self._all_count:
            return (*self._report(), actions.Finish())
        others = tuple(range(1, len(self.dealt)))
        return (actions.Send(others, Terminated()), actions.Finish()) if others else (actions.Finish(),)
