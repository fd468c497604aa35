"""Ranks in virtual time: each computes, looks around, takes messages, carries out actions, and waits.

What an agent asks for is carried out by a table of carriers, in order (`dlbrt.sim.handlers`); here is all
that lies in between. A rank that computes takes messages between its chunks, one that waits at once; while
it is blocked, moving data or switching context, it takes none. Bodies do not fail here, so there are no
alarms.

Most of a simulation is spent here, and in this order: `deliver_all` and `_poll` (asked to look around),
`_stop`, `deliver` and `settle` (gives its profile, works on what it has reserved), again `deliver_all`, `settle`
and `_goes_on` (goes on with its new share). Nothing on that path may take longer the more ranks there are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dlbrt.balance.actions import Action
from dlbrt.balance.agent import Agent, BalancingCounts
from dlbrt.balance.events import Event, Exhausted, TimeElapsed, Worked
from dlbrt.observe.trace import Transferred
from dlbrt.sim.outcome import SimulationStep
from dlbrt.sim.worker import EventQueue, SimulatedWorker

#: An event as of the time at which it is told.
EventFactory = Callable[[float], Event]

#: What happens at one time: first ranks finish chunks, then messages come, then waiting is over.
_WORK, _MESSAGE, _WAKE = range(3)


class SimulatedRank:
    """A rank as the driver sees it.

    It is ``blocked`` while it moves data or switches context; ``poll_pending`` while a look around is to come. It is
    to be woken at ``timer_at``, and seen to at ``ends_s``, when its work may have ended (inf: at no time).
    After a round what moves, moves ``among`` all.
    """

    __slots__ = (
        "actions",
        "agent",
        "among",
        "blocked",
        "ends_s",
        "inbox",
        "past_counts",
        "poll_pending",
        "rank",
        "timer_at",
        "worker",
    )

    def __init__(self, rank: int, agent: Agent, worker: SimulatedWorker) -> None:
        self.rank = rank
        self.agent = agent
        self.past_counts = BalancingCounts()  # of the agents before
        self.worker = worker
        self.actions: deque[Action] = deque()
        self.inbox: deque[EventFactory] = deque()
        self.blocked = False
        self.poll_pending = False
        self.timer_at = self.ends_s = _NEVER
        self.among = 0


_NEVER = float("inf")

#: How an action of one kind is carried out: for whom, which, when.
ActionHandler = Callable[[SimulatedRank, Any, float], None]


class SimulatedRanks:
    """All ranks of a run; what they did is told in so many ``pieces``, what happens noted in a ``trace``."""

    def __init__(
        self, ranks: Iterable[SimulatedRank], pieces: int, trace: list[SimulationStep] | None
    ) -> None:
        self.each = list(ranks)
        self._handlers: Mapping[type, ActionHandler] = {}
        self._event_queue = EventQueue()
        self._pieces = pieces
        self._trace = trace
        self._carried = 0

    def __len__(self) -> int:
        return len(self.each)

    def run(self, handlers: Mapping[type, ActionHandler]) -> int:
        """All of it; how many steps were taken in virtual time, and actions carried out.

        ``handlers`` say how each kind of action is carried out. RuntimeError if a rank waits for ever.
        """
        self._handlers = handlers
        for each in self.each:
            self._event_queue.schedule(0.0, _WORK, partial(self.settle, each))
        steps = self._event_queue.run()
        if waiting := [each.rank for each in self.each if not each.agent.finished]:
            name = self.each[0].agent.strategy_name
            raise RuntimeError(f"ranks {waiting} wait for ever: a defect of {name}")
        return steps + self._carried

    def deliver(self, each: SimulatedRank, event: Event) -> None:
        """A rank is told; what it asks for is carried out when it next settles."""
        agent = each.agent
        actions = agent.handle(event)
        if actions:
            each.actions += actions
        if (successor := agent.successor) is not None:
            each.past_counts, each.agent = agent.counts(), successor
        if self._trace is not None:
            self._trace.append(SimulationStep(event.now, each.rank, event, actions))

    def deliver_all(self, ranks: Sequence[int], event_at: EventFactory, now: float) -> None:
        """A message comes: it is told at once to those who wait, and lies in the inbox of the others."""
        event = None
        for rank in ranks:
            each = self.each[rank]
            if each.worker.busy:
                each.inbox.append(event_at)
                self._poll(each, now)
            elif each.blocked or each.actions or each.inbox:
                each.inbox.append(event_at)
            else:
                event = event or event_at(now)
                self.deliver(each, event)
                self.settle(each, now)

    def settle(self, each: SimulatedRank, now: float) -> None:
        """Carry out actions and take messages until this rank computes, moves data, or waits."""
        worker, actions, inbox = each.worker, each.actions, each.inbox
        while not (each.blocked or worker.busy):
            if actions:
                action = actions.popleft()
                self._carried += 1
                self._handlers[type(action)](each, action, now)
            elif inbox:
                self.deliver(each, inbox.popleft()(now))
            elif not self._goes_on(each, now):
                return

    def send(self, ranks: Sequence[int], event_at: EventFactory, when: float) -> None:
        """A message comes to all of these at that time: one step."""
        self._event_queue.schedule(when, _MESSAGE, partial(self.deliver_all, ranks, event_at))

    def schedule(self, step: Callable[[float], None], when: float) -> None:
        """What comes at that time, with the messages, is for ``step`` to say."""
        self._event_queue.schedule(when, _MESSAGE, step)

    def release(self, each: SimulatedRank, when: float) -> None:
        """A rank that is blocked is so until then."""
        self._event_queue.schedule(when, _WORK, partial(self._release, each))

    def moved(self, each: SimulatedRank, when: float, seconds: float, size: int) -> None:
        """The same of a rank that moves data: it will have sent ``size`` bytes, in so many seconds."""
        self._event_queue.schedule(when, _WORK, partial(self._have_moved, each, seconds, size))

    def _release(self, each: SimulatedRank, now: float) -> None:
        each.blocked = False
        self.settle(each, now)

    def _have_moved(self, each: SimulatedRank, seconds: float, size: int, now: float) -> None:
        each.agent.transferred(seconds, size)
        if self._trace is not None:
            self._trace.append(SimulationStep(now, each.rank, Transferred(now, seconds, size), ()))
        self._release(each, now)

    def _goes_on(self, each: SimulatedRank, now: float) -> bool:
        """Begin to compute or to wait; whether there is more to do at once."""
        agent = each.agent
        if agent.finished:
            return False
        timer_at = agent.timer_at
        if timer_at is not None and timer_at <= now and agent.due(now):
            self.deliver(each, TimeElapsed(now))
            return True
        if runnable := agent.runnable:
            worker = each.worker
            worker.start(now, runnable)
            if worker.end_s < each.ends_s:
                self._ends(each, worker.end_s)
        elif not agent.waiting:
            self.deliver(each, Exhausted(now))
            return True
        if timer_at is not None and timer_at != each.timer_at:
            each.timer_at = timer_at
            self._event_queue.schedule(timer_at, _WAKE, partial(self._wake, each))
        return False

    def _ends(self, each: SimulatedRank, when: float) -> None:
        each.ends_s = when
        self._event_queue.schedule(when, _WORK, partial(self._end, each))

    def _end(self, each: SimulatedRank, now: float) -> None:
        """A rank's work may have ended; it goes on to a later time if it was stopped in between.

        One such step waits for each rank, however often it stops and goes on before: by far the most steps
        would come to nothing else.
        """
        if now == each.ends_s:
            each.ends_s = _NEVER
        worker = each.worker
        if not worker.busy:
            return
        if worker.end_s <= now:
            self._stop(each, worker.version, worker.units, now)
        elif worker.end_s < each.ends_s:
            self._ends(each, worker.end_s)

    def _wake(self, each: SimulatedRank, now: float) -> None:
        if now == each.timer_at:
            each.timer_at = _NEVER
        timer_at = each.agent.timer_at
        if timer_at is None or timer_at > now or each.blocked:
            return
        if each.worker.busy:
            self._poll(each, now)
        else:
            self.deliver(each, TimeElapsed(now))
            self.settle(each, now)

    def _poll(self, each: SimulatedRank, now: float) -> None:
        """A computing rank looks around when its iteration is done."""
        if not each.poll_pending:
            each.poll_pending = True
            worker = each.worker
            when, count = worker.next_poll(now)
            self._event_queue.schedule(when, _WORK, partial(self._stop, each, worker.version, count))

    def _stop(self, each: SimulatedRank, version: int, count: int, now: float) -> None:
        """The rank has done so many units, and stops to look around, unless it has stopped before."""
        worker = each.worker
        if version != worker.version:
            return
        each.poll_pending = False
        if processor := worker.stop(count, self._pieces):
            self.deliver(each, Worked(now, *processor[-1], processor[:-1]))
        self.settle(each, now)
