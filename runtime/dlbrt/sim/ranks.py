"""Ranks in virtual time: each computes, looks around, takes messages, carries out actions, and waits.

What an agent asks for is carried out by a table of carriers, in order (`dlbrt.sim.carriers`); here is all
that lies in between. A rank that computes takes messages between its chunks, one that waits at once; while
it is blocked, moving data or switching context, it takes none. Bodies do not fail here, so there are no
alarms.

Most of a simulation is spent here, and in this order: `tell_all` and `_look_up` (asked to look around),
`_stop`, `tell` and `settle` (gives its profile, works on what it has reserved), again `tell_all`, `settle`
and `_goes_on` (goes on with its new share). Nothing on that path may take longer the more ranks there are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dlbrt.core.actions import Action
from dlbrt.core.agent import Account, Agent
from dlbrt.core.events import Event, Exhausted, Waited, Worked
from dlbrt.observe.trace import Transferred
from dlbrt.sim.heap import Heap
from dlbrt.sim.outcome import Step
from dlbrt.sim.worker import Worker

__all__ = ["Carrier", "Rank", "Ranks", "Telling"]

#: An event as of the time at which it is told.
Telling = Callable[[float], Event]

#: What happens at one time: first ranks finish chunks, then messages come, then waiting is over.
_WORK, _MESSAGE, _WAKE = range(3)


class Rank:
    """A rank as the driver sees it.

    It is ``blocked`` while it moves data or switches context; ``looks`` while a look around is to come. It is
    to be woken at ``wakes_s``, and seen to at ``ends_s``, when its work may have ended (inf: at no time).
    After a round what moves, moves ``among`` all.
    """

    __slots__ = (
        "actions",
        "agent",
        "among",
        "blocked",
        "ends_s",
        "inbox",
        "looks",
        "past",
        "rank",
        "wakes_s",
        "worker",
    )

    def __init__(self, rank: int, agent: Agent, worker: Worker) -> None:
        self.rank = rank
        self.agent = agent
        self.past = Account()  # of the agents before
        self.worker = worker
        self.actions: deque[Action] = deque()
        self.inbox: deque[Telling] = deque()
        self.blocked = False
        self.looks = False
        self.wakes_s = self.ends_s = _NEVER
        self.among = 0


_NEVER = float("inf")

#: How an action of one kind is carried out: for whom, which, when.
Carrier = Callable[[Rank, Any, float], None]


class Ranks:
    """All ranks of a run; what they did is told in so many ``pieces``, what happens noted in a ``trace``."""

    def __init__(self, ranks: Iterable[Rank], pieces: int, trace: list[Step] | None) -> None:
        self.each = list(ranks)
        self._carriers: Mapping[type, Carrier] = {}
        self._heap = Heap()
        self._pieces = pieces
        self._trace = trace
        self._carried = 0

    def __len__(self) -> int:
        return len(self.each)

    def run(self, carriers: Mapping[type, Carrier]) -> int:
        """All of it; how many steps were taken in virtual time, and actions carried out.

        ``carriers`` say how each kind of action is carried out. RuntimeError if a rank waits for ever.
        """
        self._carriers = carriers
        for each in self.each:
            self._heap.at(0.0, _WORK, partial(self.settle, each))
        steps = self._heap.run()
        if waiting := [each.rank for each in self.each if not each.agent.finished]:
            name = self.each[0].agent.strategy_name
            raise RuntimeError(f"ranks {waiting} wait for ever: a defect of {name}")
        return steps + self._carried

    def tell(self, each: Rank, event: Event) -> None:
        """A rank is told; what it asks for is carried out when it next settles."""
        agent = each.agent
        actions = agent.handle(event)
        if actions:
            each.actions += actions
        if (successor := agent.successor) is not None:
            each.past, each.agent = agent.account(), successor
        if self._trace is not None:
            self._trace.append(Step(event.now, each.rank, event, actions))

    def tell_all(self, ranks: Sequence[int], told: Telling, now: float) -> None:
        """A message comes: it is told at once to those who wait, and lies in the inbox of the others."""
        event = None
        for rank in ranks:
            each = self.each[rank]
            if each.worker.busy:
                each.inbox.append(told)
                self._look_up(each, now)
            elif each.blocked or each.actions or each.inbox:
                each.inbox.append(told)
            else:
                event = event or told(now)
                self.tell(each, event)
                self.settle(each, now)

    def settle(self, each: Rank, now: float) -> None:
        """Carry out actions and take messages until this rank computes, moves data, or waits."""
        worker, actions, inbox = each.worker, each.actions, each.inbox
        while not (each.blocked or worker.busy):
            if actions:
                action = actions.popleft()
                self._carried += 1
                self._carriers[type(action)](each, action, now)
            elif inbox:
                self.tell(each, inbox.popleft()(now))
            elif not self._goes_on(each, now):
                return

    def send(self, ranks: Sequence[int], told: Telling, when: float) -> None:
        """A message comes to all of these at that time: one step."""
        self._heap.at(when, _MESSAGE, partial(self.tell_all, ranks, told))

    def come(self, step: Callable[[float], None], when: float) -> None:
        """What comes at that time, with the messages, is for ``step`` to say."""
        self._heap.at(when, _MESSAGE, step)

    def release(self, each: Rank, when: float) -> None:
        """A rank that is blocked is so until then."""
        self._heap.at(when, _WORK, partial(self._release, each))

    def moved(self, each: Rank, when: float, seconds: float, size: int) -> None:
        """The same of a rank that moves data: it will have sent ``size`` bytes, in so many seconds."""
        self._heap.at(when, _WORK, partial(self._have_moved, each, seconds, size))

    def _release(self, each: Rank, now: float) -> None:
        each.blocked = False
        self.settle(each, now)

    def _have_moved(self, each: Rank, seconds: float, size: int, now: float) -> None:
        each.agent.transferred(seconds, size)
        if self._trace is not None:
            self._trace.append(Step(now, each.rank, Transferred(now, seconds, size), ()))
        self._release(each, now)

    def _goes_on(self, each: Rank, now: float) -> bool:
        """Begin to compute or to wait; whether there is more to do at once."""
        agent = each.agent
        if agent.finished:
            return False
        wakes_s = agent.wakes_at
        if wakes_s is not None and wakes_s <= now and agent.due(now):
            self.tell(each, Waited(now))
            return True
        if runnable := agent.runnable:
            worker = each.worker
            worker.start(now, runnable)
            if worker.end_s < each.ends_s:
                self._ends(each, worker.end_s)
        elif not agent.waiting:
            self.tell(each, Exhausted(now))
            return True
        if wakes_s is not None and wakes_s != each.wakes_s:
            each.wakes_s = wakes_s
            self._heap.at(wakes_s, _WAKE, partial(self._wake, each))
        return False

    def _ends(self, each: Rank, when: float) -> None:
        each.ends_s = when
        self._heap.at(when, _WORK, partial(self._end, each))

    def _end(self, each: Rank, now: float) -> None:
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

    def _wake(self, each: Rank, now: float) -> None:
        if now == each.wakes_s:
            each.wakes_s = _NEVER
        wakes_at = each.agent.wakes_at
        if wakes_at is None or wakes_at > now or each.blocked:
            return
        if each.worker.busy:
            self._look_up(each, now)
        else:
            self.tell(each, Waited(now))
            self.settle(each, now)

    def _look_up(self, each: Rank, now: float) -> None:
        """A computing rank looks around when its iteration is done."""
        if not each.looks:
            each.looks = True
            worker = each.worker
            when, count = worker.looks(now)
            self._heap.at(when, _WORK, partial(self._stop, each, worker.version, count))

    def _stop(self, each: Rank, version: int, count: int, now: float) -> None:
        """The rank has done so many units, and stops to look around, unless it has stopped before."""
        worker = each.worker
        if version != worker.version:
            return
        each.looks = False
        if course := worker.stop(count, self._pieces):
            self.tell(each, Worked(now, *course[-1], course[:-1]))
        self.settle(each, now)
