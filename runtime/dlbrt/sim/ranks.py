"""Ranks in virtual time: each computes, polls, takes messages, carries out actions, and waits.

A table of handlers carries out the actions of an agent, in order (`dlbrt.sim.action_executor`); this module
does everything in between. A computing rank takes messages between its chunks, a waiting one at once; a rank
that is blocked, moving data or switching context, takes none. Bodies do not fail here, so there are no
failure notices.

Most of a simulation is spent here, in this order: `deliver_all` and `_poll` (a rank is interrupted), `_stop`,
`deliver` and `settle` (it sends its profile and works on its reserve), again `deliver_all`, `settle` and
`_continue` (it goes on with its new share). No step of this path may take longer with more ranks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dlbrt.balance.actions import Action
from dlbrt.balance.agent import Agent, BalancingCounts
from dlbrt.balance.events import Event, Exhausted, Received, TimeElapsed, UnderWay, Worked, WorkReceived
from dlbrt.data.spans import Spans
from dlbrt.observe.trace import Transferred
from dlbrt.parameters import SERVE_S
from dlbrt.sim.outcome import SimulationStep
from dlbrt.sim.worker import EventQueue, SimulatedWorker

#: Makes an event, given the time of its delivery.
EventFactory = Callable[[float], Event]

#: Priorities at one time: first ranks finish chunks, then messages arrive, then timers expire.
_WORK, _MESSAGE, _WAKE = range(3)


class SimulatedRank:
    """A rank as the driver sees it.

    ``blocked``: it moves data or switches context. ``poll_pending``: a poll is scheduled. ``timer_at``: the
    next timer, inf if none. ``ends_s``: when its current work may end, inf if no end is scheduled. ``among``:
    after a group exchange, the number of ranks that move work together; else 0.
    """

    __slots__ = ("actions", "agent", "among", "blocked", "ends_s", "inbox", "past_counts", "poll_pending",
                 "rank", "timer_at", "worker")  # fmt: skip

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

#: Carries out an action of one kind, given the rank, the action and the time.
ActionHandler = Callable[[SimulatedRank, Any, float], None]


class SimulatedRanks:
    """All ranks of a run. Completed work is reported in ``pieces``; steps are added to ``trace``, if any."""

    def __init__(self, ranks: list[SimulatedRank], pieces: int, trace: list[SimulationStep] | None) -> None:
        self.each = ranks
        self._handlers: Mapping[type, ActionHandler] = {}
        self._event_queue = EventQueue()
        self._pieces = pieces
        self._trace = trace
        self._carried = 0

    def __len__(self) -> int:
        return len(self.each)

    def begin(self, handlers: Mapping[type, ActionHandler], begins_s: Sequence[float]) -> None:
        """Let each rank begin at its time; ``handlers`` carry out the actions, by kind."""
        self._handlers = handlers
        for each, begin_s in zip(self.each, begins_s, strict=True):
            self._event_queue.schedule(begin_s, _WORK, partial(self.settle, each))

    @property
    def over(self) -> bool:
        """Whether all ranks have finished."""
        return all(each.agent.finished for each in self.each)

    def run(self, until: float = _NEVER) -> int:
        """Run to the end, or ``until`` a time; the steps in virtual time and actions carried out.

        RuntimeError if a rank waits for ever.
        """
        carried = self._carried
        steps = self._event_queue.run(until)
        waiting = [each.rank for each in self.each if not each.agent.finished]
        if waiting and until == _NEVER:
            name = self.each[0].agent.strategy_name
            raise RuntimeError(f"ranks {waiting} wait for ever: a defect of {name}")
        return steps + self._carried - carried

    def deliver(self, each: SimulatedRank, event: Event) -> None:
        """Hand an event to a rank; its actions are carried out when it next settles."""
        agent = each.agent
        actions = agent.handle(event)
        if actions:
            each.actions += actions
        if (successor := agent.successor) is not None:
            each.past_counts, each.agent = each.past_counts + agent.counts(), successor
        if self._trace is not None:
            self._trace.append(SimulationStep(event.now, each.rank, event, actions))

    def deliver_all(self, ranks: Sequence[int], event_at: EventFactory, now: float) -> None:
        """A message arrives: waiting ranks handle it at once, the others find it in their inbox.

        A rank that has ended takes none.
        """
        event = None
        for rank in ranks:
            each = self.each[rank]
            if each.agent.finished:
                continue
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
            elif not self._continue(each, now):
                return

    def send(self, ranks: Sequence[int], event_at: EventFactory, when: float) -> None:
        """Deliver a message to all these ranks at the time ``when``, as one step."""
        self._event_queue.schedule(when, _MESSAGE, partial(self.deliver_all, ranks, event_at))

    def schedule(self, step: Callable[[float], None], when: float) -> None:
        """Take ``step`` at the time ``when``, with the priority of messages."""
        self._event_queue.schedule(when, _MESSAGE, step)

    def release(self, each: SimulatedRank, when: float) -> None:
        """Unblock a rank at the time ``when``."""
        self._event_queue.schedule(when, _WORK, partial(self._release, each))

    def moved(self, each: SimulatedRank, when: float, seconds: float, size: int) -> None:
        """Unblock a rank that moves data; by then it has sent ``size`` bytes in ``seconds``."""
        self._event_queue.schedule(when, _WORK, partial(self._have_moved, each, seconds, size))

    def _release(self, each: SimulatedRank, now: float) -> None:
        each.blocked = False
        self.settle(each, now)

    def _have_moved(self, each: SimulatedRank, seconds: float, size: int, now: float) -> None:
        each.agent.transferred(seconds, size)
        if self._trace is not None:
            self._trace.append(SimulationStep(now, each.rank, Transferred(now, seconds, size), ()))
        self._release(each, now)

    def _continue(self, each: SimulatedRank, now: float) -> bool:
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
                self._schedule_end(each, worker.end_s)
        elif not agent.waiting:
            self.deliver(each, Exhausted(now))
            return True
        if timer_at is not None and timer_at != each.timer_at:
            each.timer_at = timer_at
            self._event_queue.schedule(timer_at, _WAKE, partial(self._wake, each))
        return False

    def _schedule_end(self, each: SimulatedRank, when: float) -> None:
        each.ends_s = when
        self._event_queue.schedule(when, _WORK, partial(self._end, each))

    def _end(self, each: SimulatedRank, now: float) -> None:
        """A rank's work may have ended; if it was stopped in between, it ends later.

        At most one pending end-event per rank, however often the rank stops and continues before: otherwise
        most steps would do nothing.
        """
        if now == each.ends_s:
            each.ends_s = _NEVER
        worker = each.worker
        if not worker.busy:
            return
        if worker.end_s <= now:
            self._stop(each, worker.version, worker.units, now)
        elif worker.end_s < each.ends_s:
            self._schedule_end(each, worker.end_s)

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

    def _poll(self, each: SimulatedRank, now: float, *, serves: bool = True) -> None:
        """A computing rank polls when its current chunk is done, and ``serves`` within a long one."""
        if not each.poll_pending:
            each.poll_pending = True
            worker = each.worker
            when, count = worker.next_poll(now)
            self._event_queue.schedule(when, _WORK, partial(self._stop, each, worker.version, count))
            if serves and when > now + SERVE_S and each.agent.serves:
                self._event_queue.schedule(now + SERVE_S, _WORK, partial(self._serve, each, worker.version))

    def _serve(self, each: SimulatedRank, version: int, now: float) -> None:
        """The rank takes messages, as far as its agent does so within an iteration, unless it has stopped."""
        worker, agent, inbox = each.worker, each.agent, each.inbox
        if version != worker.version:
            return
        count, seconds = worker.split(now)
        if count:
            self.deliver(each, Worked(worker.begin_s, count, seconds))
        self.deliver(each, UnderWay(now, 1, now - worker.begin_s))
        while inbox:
            event = inbox[0](now)
            kind = type(event.message) if isinstance(event, Received) else type(event)
            if not (kind in agent.serves or (kind is WorkReceived and Spans in agent.serves)):
                break
            inbox.popleft()
            self.deliver(each, event)
        if agent.due(now):
            self.deliver(each, TimeElapsed(now))
        while each.actions:
            action = each.actions.popleft()
            self._carried += 1
            self._handlers[type(action)](each, action, now)
        worker.change(agent.runnable)
        if worker.end_s < each.ends_s:
            self._schedule_end(each, worker.end_s)
        each.poll_pending = False
        if inbox:
            self._poll(each, now, serves=False)
        elif (timer_at := agent.timer_at) is not None and timer_at != each.timer_at:
            each.timer_at = timer_at
            self._event_queue.schedule(timer_at, _WAKE, partial(self._wake, each))

    def _stop(self, each: SimulatedRank, version: int, count: int, now: float) -> None:
        """The rank has done ``count`` units and stops to poll, unless it has stopped before."""
        worker = each.worker
        if version != worker.version:
            return
        each.poll_pending = False
        if samples := worker.stop(count, self._pieces):
            self.deliver(each, Worked(now, *samples[-1], samples[:-1]))
        self.settle(each, now)
