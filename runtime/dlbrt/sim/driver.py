"""One balancer a rank, driven in virtual time: what they ask for becomes events to come.

The counterpart of `dlbrt.mpi.team`, step by step: actions are carried out in order; a rank that computes
takes messages between its chunks, one that waits at once; while it moves data it takes none. By the network
(Zaki, Li, Parthasarathy, section 1.3.2) an interrupt reaches a group of K after one-to-all among K; profiles,
from when the last one was given, take all-to-all, or all-to-one to the central balancer; that loses the
context switch from its own computing, and its instructions go out one latency apart. Bodies do not fail here,
so there are no alarms.

An event is a synchronization, never an iteration, so that a run takes milliseconds whatever it simulates. A
message to many is one step in virtual time, in which each of them is told. So the hot path is what each rank
does at a synchronization: `_come` and `_look_up` (asked to stop), `_stop`, `_tell` and `_settle` (gives its
profile, works on what it has reserved), again `_come`, `_settle` and `_goes_on` (goes on with its new share).
Nothing on it may take longer the more ranks there are: what all of a group know alike is computed by the
first that needs it (`dlbrt.sim.replicas`, `dlbrt.core.standing`).
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from dlbrt.core.actions import (
    Action,
    Announce,
    Choose,
    Claim,
    Exchange,
    Finish,
    Give,
    Instruct,
    Interrupt,
    Move,
    Report,
    Resume,
    State,
    Summon,
    Tell,
)
from dlbrt.core.agent import Account, Agent, PeerStrategy, Start
from dlbrt.core.balancer import Balancer, Commit
from dlbrt.core.events import (
    Asked,
    Claimed,
    Committed,
    Event,
    Exchanged,
    Exhausted,
    Given,
    Instructed,
    Interrupted,
    Reported,
    Stated,
    Summoned,
    Told,
    Waited,
    Worked,
)
from dlbrt.core.parameters import Parameters
from dlbrt.core.profile import Profile
from dlbrt.core.regrouping import Regrouping
from dlbrt.core.statement import Statement
from dlbrt.core.strategy import Strategy
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Transfer
from dlbrt.observe.trace import Transferred
from dlbrt.sim.beginning import start_of
from dlbrt.sim.heap import Heap
from dlbrt.sim.links import Links, Movement
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import Outcome, Step
from dlbrt.sim.replicas import Replica
from dlbrt.sim.worker import Worker

__all__ = ["simulate"]

#: An event as of the time at which it is told.
Telling = Callable[[float], Event]

#: Where a strategy is to be chosen, what was done is told in so many pieces: they show how the speed goes.
PIECES = 32

#: What happens at one time: first ranks finish chunks, then messages come, then waiting is over.
WORK, MESSAGE, WAKE = range(3)


def simulate(
    machine: Machine,
    loop: LoopModel,
    strategy: Strategy | PeerStrategy,
    parameters: Parameters | None = None,
    commit: Commit | None = None,
    *,
    traced: bool = True,
) -> Outcome:
    """Run a loop to its end. ``commit`` is asked at the first synchronization, as by `Balancer`.

    ``traced``: whether to keep every event and action, which takes memory in proportion. RuntimeError if a
    rank waits for ever, which is a defect of the policy.
    """
    return _Simulation(machine, loop, strategy, parameters or Parameters(), commit, traced).run()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the search for cycles: a simulation makes none, and all ranks would be gone through."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Rank:
    """A rank as the driver sees it.

    It is ``blocked`` while it moves data or switches context; ``looks`` while a look around is to come. After
    a round what moves, moves ``among`` all.
    """

    __slots__ = ("actions", "agent", "among", "blocked", "inbox", "looks", "past", "rank", "worker")

    def __init__(self, rank: int, agent: Agent, worker: Worker) -> None:
        self.rank = rank
        self.agent = agent
        self.past = Account()  # of the agents before
        self.worker = worker
        self.actions: deque[Action] = deque()
        self.inbox: deque[Telling] = deque()
        self.blocked = False
        self.looks = False
        self.among = 0

    @property
    def balancer(self) -> Balancer:
        """The agent of a rank that synchronizes with others."""
        return cast(Balancer, self.agent)


class _Simulation:
    def __init__(
        self,
        machine: Machine,
        loop: LoopModel,
        strategy: Strategy | PeerStrategy,
        parameters: Parameters,
        commit: Commit | None,
        traced: bool,
    ) -> None:
        self._network = machine.network
        self._heap = Heap()
        self._links = Links(machine.network, machine.ranks, loop.unit_bytes)
        self._pieces = 1 if commit is None else PIECES
        self._given: dict[tuple[int, int], dict[int, Profile]] = {}
        self._stated: dict[int, dict[int, Statement | None]] = {}
        self._asked: dict[int, int] = {}  # by the lowest rank of a group the latest window that one has ended
        self._movements: dict[tuple[int, Transfer], Movement] = {}
        self._trace: list[Step] | None = [] if traced else None
        self._carriers = self._table()
        self._carried = 0
        self._counter = 0
        self._end_s = 0.0
        self._redistributions = self._moved = 0
        start = start_of(machine, loop, strategy, parameters)
        self._ranks = self._crew(machine, loop, strategy, start, commit)

    def _crew(
        self,
        machine: Machine,
        loop: LoopModel,
        strategy: Strategy | PeerStrategy,
        start: Start,
        commit: Commit | None,
    ) -> list[_Rank]:
        costs, shares = loop.costs(), start.shares
        courses = enumerate(machine.courses(list(map(len, shares))))
        if isinstance(strategy, PeerStrategy):
            return [
                _Rank(rank, strategy.agent(rank, start, 0.0), Worker(course, costs))
                for rank, course in courses
            ]
        first = Replica(range(machine.ranks), shares, start.terms, {})
        groups, rules, terms = machine.groups, machine.rules, start.terms
        return [
            _Rank(
                rank,
                Regrouping(rank, shares, strategy, terms, 0.0, groups, commit, first.another(), rules),
                Worker(course, costs),
            )
            for rank, course in courses
        ]

    def _table(self) -> dict[type, Callable[[_Rank, Any, float], None]]:
        """How each action is carried out; of `Resume` nothing is left to do."""
        return {
            Choose: self._choose,
            Announce: self._announce,
            Interrupt: self._interrupt,
            Exchange: self._exchange,
            Report: self._report,
            Summon: self._summon,
            State: self._state,
            Instruct: self._instruct,
            Move: self._move,
            Tell: self._say,
            Give: self._give,
            Claim: self._claim,
            Resume: self._resume,
            Finish: self._finish,
        }

    def run(self) -> Outcome:
        """All of it."""
        for each in self._ranks:
            self._heap.at(0.0, WORK, partial(self._settle, each))
        with _uncollected():
            steps = self._heap.run()
        if waiting := [each.rank for each in self._ranks if not each.agent.finished]:
            raise RuntimeError(
                f"ranks {waiting} wait for ever: a defect of {self._ranks[0].agent.strategy_name}"
            )
        return self._outcome(steps + self._carried)

    def _outcome(self, events: int) -> Outcome:
        workers = [each.worker for each in self._ranks]
        return Outcome(
            strategy=self._ranks[0].agent.strategy_name,
            makespan_s=self._end_s,
            compute_s=tuple(worker.compute_s for worker in workers),
            done=tuple(Spans.of(*worker.parts) for worker in workers),
            synchronizations=sum((each.past + each.agent.account()).synchronizations for each in self._ranks),
            redistributions=self._redistributions,
            moved=self._moved,
            events=events,
            trace=tuple(self._trace or ()),
        )

    def _settle(self, each: _Rank, now: float) -> None:
        """Carry out actions and take messages until this rank computes, moves data, or waits."""
        worker, actions, inbox = each.worker, each.actions, each.inbox
        while not (each.blocked or worker.busy):
            if actions:
                action = actions.popleft()
                self._carried += 1
                self._carriers[type(action)](each, action, now)
            elif inbox:
                self._tell(each, inbox.popleft()(now))
            elif not self._goes_on(each, now):
                return

    def _goes_on(self, each: _Rank, now: float) -> bool:
        """Begin to compute or to wait; whether there is more to do at once."""
        agent = each.agent
        if agent.finished:
            return False
        if agent.due(now):
            self._tell(each, Waited(now))
            return True
        if runnable := agent.runnable:
            each.worker.start(now, runnable)
            self._look(each, each.worker.end_s, each.worker.units)
        elif not agent.waiting:
            self._tell(each, Exhausted(now))
            return True
        if (wakes_at := agent.wakes_at) is not None:
            self._heap.at(wakes_at, WAKE, partial(self._wake, each))
        return False

    def _wake(self, each: _Rank, now: float) -> None:
        wakes_at = each.agent.wakes_at
        if wakes_at is None or wakes_at > now or each.blocked:
            return
        if each.worker.busy:
            self._look_up(each, now)
        else:
            self._tell(each, Waited(now))
            self._settle(each, now)

    def _look_up(self, each: _Rank, now: float) -> None:
        """A computing rank looks around when its iteration is done."""
        if not each.looks:
            each.looks = True
            self._look(each, *each.worker.looks(now))

    def _tell(self, each: _Rank, event: Event) -> None:
        actions = each.agent.handle(event)
        each.actions += actions
        if (successor := each.agent.successor) is not None:
            each.past, each.agent = each.agent.account(), successor
        if self._trace is not None:
            self._trace.append(Step(event.now, each.rank, event, actions))

    def _look(self, each: _Rank, when: float, count: int) -> None:
        """The rank stops at that time, after so many units, unless it has stopped before."""
        self._heap.at(when, WORK, partial(self._stop, each, each.worker.version, count))

    def _stop(self, each: _Rank, version: int, count: int, now: float) -> None:
        if version != each.worker.version:
            return
        each.looks = False
        course = each.worker.stop(count, self._pieces)
        if course:
            self._tell(each, Worked(now, *course[-1], course[:-1]))
        self._settle(each, now)

    def _send(self, ranks: Sequence[int], told: Telling, when: float) -> None:
        """A message comes to all of these at that time."""
        self._heap.at(when, MESSAGE, partial(self._tell_all, ranks, told))

    def _tell_all(self, ranks: Sequence[int], told: Telling, now: float) -> None:
        event = told(now)
        for rank in ranks:
            self._come(self._ranks[rank], told, event)

    def _send_out(self, ranks: Sequence[int], told: Telling, now: float) -> None:
        """One rank says it to all of these."""
        self._send(ranks, told, now + self._network.one_to_all.seconds(len(ranks) + 1))

    def _come(self, each: _Rank, told: Telling, event: Event) -> None:
        """A message comes to one rank: ``event``, if it can take it now, else what will be ``told``."""
        if each.worker.busy:
            each.inbox.append(told)
            self._look_up(each, event.now)
        elif each.blocked or each.actions or each.inbox:
            each.inbox.append(told)
        else:
            self._tell(each, event)
            self._settle(each, event.now)

    def _choose(self, each: _Rank, action: Choose, now: float) -> None:  # noqa: ARG002
        self._tell(each, Asked(now))

    def _announce(self, each: _Rank, action: Announce, now: float) -> None:  # noqa: ARG002
        self._send_out(action.members, partial(Committed, strategy=action.strategy), now)

    def _interrupt(self, each: _Rank, action: Interrupt, now: float) -> None:
        """Of those who ask for one synchronization only the first to be heard is.

        To the others nobody listens: all but the first have given their profiles or are about to, and who has
        looks for nothing but the answer (`dlbrt.mpi.crew`). Many ask at one time, each of them all.
        """
        head, told = each.balancer.books.members[0], partial(Interrupted, epoch=action.epoch)

        def come(now: float) -> None:
            if self._asked.get(head, -1) < action.epoch:
                self._asked[head] = action.epoch
                self._tell_all(action.members, told, now)

        takes_s = self._network.one_to_all.seconds(len(action.members) + 1)
        self._heap.at(now + takes_s, MESSAGE, come)

    def _summon(self, each: _Rank, action: Summon, now: float) -> None:  # noqa: ARG002
        self._send_out(action.members, partial(Summoned, round=action.round), now)

    def _say(self, each: _Rank, action: Tell, now: float) -> None:
        told = partial(Told, source=each.rank, word=action.word)
        if len(action.targets) > 1:
            self._send_out(action.targets, told, now)
        else:
            self._send(action.targets, told, now + self._network.latency_s)

    def _give(self, each: _Rank, action: Give, now: float) -> None:
        """What is given is on its way; who gives goes on, whose link is taken by one message at a time."""
        when = self._links.give(each.rank, action.target, len(action.units), now)
        self._send((action.target,), partial(Given, source=each.rank, units=action.units), when)
        self._redistributions += 1
        self._moved += len(action.units)

    def _claim(self, each: _Rank, action: Claim, now: float) -> None:
        """A claim goes to the counter and back."""
        told = partial(Claimed, number=self._counter, count=action.count)
        self._counter += action.count
        self._send((each.rank,), told, now + 2 * self._network.latency_s)

    def _resume(self, each: _Rank, action: Resume, now: float) -> None:
        pass

    def _finish(self, each: _Rank, action: Finish, now: float) -> None:  # noqa: ARG002
        self._end_s = max(self._end_s, now)

    def _gathered(self, each: _Rank, epoch: int, profile: Profile) -> tuple[Profile, ...]:
        """The profiles of a window, this rank's among them, if they are complete; else nothing.

        Windows are told apart by epoch and lowest rank, since no rank is in two groups in one epoch.
        """
        each.among = 0
        members = each.balancer.books.members
        given = self._given.setdefault((members[0], epoch), {})
        given[each.rank] = profile
        if len(given) < len(members):
            return ()
        del self._given[members[0], epoch]
        return tuple(map(given.__getitem__, members))

    def _exchange(self, each: _Rank, action: Exchange, now: float) -> None:
        if profiles := self._gathered(each, action.epoch, action.profile):
            takes_s = self._network.all_to_all.seconds(len(profiles))
            self._send(action.members, partial(Exchanged, profiles=profiles), now + takes_s)

    def _state(self, each: _Rank, action: State, now: float) -> None:
        """When all have come to the round, each head sends what it states to all ranks."""
        stated = self._stated.setdefault(action.round, {})
        stated[each.rank] = action.statement
        if len(stated) < len(self._ranks):
            return
        given = self._stated.pop(action.round)
        found = (given[head] for head in action.heads)
        statements = tuple(statement for statement in found if statement is not None)
        for other in self._ranks:
            other.among = len(self._ranks)
        takes_s = self._network.all_to_all.seconds(len(self._ranks))
        self._send(range(len(self._ranks)), partial(Stated, statements=statements), now + takes_s)

    def _report(self, each: _Rank, action: Report, now: float) -> None:
        if profiles := self._gathered(each, action.epoch, action.profile):
            when = now + self._network.all_to_one.seconds(len(profiles))
            for member, profile in zip(each.balancer.books.members, profiles, strict=True):
                self._send((action.master,), partial(Reported, rank=member, profile=profile), when)

    def _instruct(self, each: _Rank, action: Instruct, now: float) -> None:
        """The others of the group hear one after the other; the balancer's host itself first."""
        told = partial(Instructed, profiles=action.profiles, decision=action.decision)
        begin_s = now + self._network.switch_s
        if each.rank in action.members:
            each.inbox.appendleft(told)
        others = (member for member in action.members if member != each.rank)
        for place, member in enumerate(others, 1):
            self._send((member,), told, begin_s + place * self._network.latency_s)
        self._block(each, begin_s)

    def _block(self, each: _Rank, until_s: float) -> None:
        """This rank does nothing else until then."""
        each.blocked = True
        self._heap.at(until_s, WORK, partial(self._release, each))

    def _release(self, each: _Rank, now: float) -> None:
        each.blocked = False
        self._settle(each, now)

    def _move(self, each: _Rank, action: Move, now: float) -> None:
        balancer, key = each.balancer, (each.balancer.epoch, action.transfers[0])
        movement = self._movements.get(key)
        if movement is None:
            movement = self._movements[key] = Movement(action.transfers)
            self._redistributions += 1
            self._moved += sum(len(transfer.spans) for transfer in action.transfers)
        if movement.concerns(each.rank):
            each.blocked = True
            for member, ready_s in movement.join(each.rank, now, self._links):
                took_s = ready_s - movement.came[member]
                self._heap.at(ready_s, WORK, partial(self._have_moved, self._ranks[member], movement, took_s))
        else:
            movement.pass_by(each.rank, now)
        if len(movement.came) == (each.among or len(balancer.books.members)):
            del self._movements[key]

    def _have_moved(self, each: _Rank, movement: Movement, seconds: float, now: float) -> None:
        """All that this rank gives and takes has gone over."""
        size = self._links.size(each.rank, movement.given(each.rank))
        each.agent.transferred(seconds, size)
        if self._trace is not None:
            self._trace.append(Step(now, each.rank, Transferred(now, seconds, size), ()))
        self._release(each, now)
