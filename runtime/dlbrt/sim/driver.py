"""One balancer a rank, driven in virtual time: what they ask for becomes events to come.

The counterpart of `dlbrt.mpi.team`, step by step: actions are carried out in order; a rank that computes
takes messages between its chunks, one that waits at once; while it moves data it takes none. By the network
(Zaki, Li, Parthasarathy, section 1.3.2) an interrupt reaches a group of K after one-to-all among K; profiles,
from when the last one was given, take all-to-all, or all-to-one to the central balancer; that loses the
context switch from its own computing, and its instructions go out one latency apart. Bodies do not fail here,
so there are no alarms.

An event is a synchronization, never an iteration, so that a run takes milliseconds whatever it simulates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from dlbrt.core.actions import (
    Action,
    Announce,
    Choose,
    Exchange,
    Finish,
    Instruct,
    Interrupt,
    Move,
    Report,
    State,
    Summon,
)
from dlbrt.core.balancer import Balancer, Commit
from dlbrt.core.books import Terms
from dlbrt.core.events import (
    Asked,
    Committed,
    Event,
    Exchanged,
    Exhausted,
    Instructed,
    Interrupted,
    Reported,
    Stated,
    Summoned,
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
from dlbrt.sim.heap import Heap
from dlbrt.sim.links import Links, Movement
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import Outcome, Step
from dlbrt.sim.replicas import Latest, Replica
from dlbrt.sim.worker import Worker

__all__ = ["simulate"]

#: An event as of the time at which it is told.
Told = Callable[[float], Event]

#: Where a strategy is to be chosen, what was done is told in so many pieces: they show how the speed goes.
PIECES = 32

#: What happens at one time: first ranks finish chunks, then messages come, then waiting is over.
WORK, MESSAGE, WAKE = range(3)


def simulate(
    machine: Machine,
    loop: LoopModel,
    strategy: Strategy,
    parameters: Parameters | None = None,
    commit: Commit | None = None,
) -> Outcome:
    """Run a loop to its end. ``commit`` is asked at the first synchronization, as by `Balancer`.

    RuntimeError if a rank waits for ever, which is a defect of the policy.
    """
    return _Simulation(machine, loop, strategy, parameters or Parameters(), commit).run()


class _Rank:
    """A rank as the driver sees it."""

    def __init__(self, balancer: Balancer, worker: Worker) -> None:
        self.balancer = balancer
        self.worker = worker
        self.actions: deque[Action] = deque()
        self.inbox: deque[Told] = deque()
        self.blocked = False
        self.looks = False


class _Simulation:
    def __init__(
        self,
        machine: Machine,
        loop: LoopModel,
        strategy: Strategy,
        parameters: Parameters,
        commit: Commit | None,
    ) -> None:
        self._network = machine.network
        self._heap = Heap()
        self._links = Links(machine.network, machine.ranks, loop.unit_bytes)
        self._pieces = 1 if commit is None else PIECES
        self._given: dict[tuple[tuple[int, ...], int], dict[int, Profile]] = {}
        self._stated: dict[int, dict[int, Statement | None]] = {}
        self._movements: dict[tuple[int, Transfer], Movement] = {}
        self._trace: list[Step] = []
        self._end_s = 0.0
        self._redistributions = self._moved = 0
        exchange_s = machine.network.all_to_all.seconds(machine.ranks)
        group_s = {tuple(g): machine.network.all_to_all.seconds(len(g)) for g in machine.groups}
        exchanges = machine.network.all_to_all
        terms = Terms(loop.units, parameters, exchange_s, loop.amounts, loop.unit_bytes, group_s, exchanges)
        self._ranks = self._crew(machine, loop, strategy, terms, commit)

    def _crew(
        self, machine: Machine, loop: LoopModel, strategy: Strategy, terms: Terms, commit: Commit | None
    ) -> list[_Rank]:
        shares, costs = loop.dealt(machine.ranks), loop.costs()
        latest: Latest = {}
        crew = []
        for rank, course in enumerate(machine.courses()):
            books = Replica(range(machine.ranks), shares, terms, latest)
            balancer = Regrouping(
                rank, shares, strategy, terms, 0.0, machine.groups, commit, books, machine.rules
            )
            crew.append(_Rank(balancer, Worker(course, costs)))
        return crew

    def run(self) -> Outcome:
        """All of it."""
        for rank in range(len(self._ranks)):
            self._heap.at(0.0, WORK, partial(self._settle, rank))
        self._heap.run()
        if waiting := [r for r, each in enumerate(self._ranks) if not each.balancer.finished]:
            raise RuntimeError(
                f"ranks {waiting} wait for ever: a defect of {self._ranks[0].balancer.strategy.name}"
            )
        return self._outcome()

    def _outcome(self) -> Outcome:
        workers = [each.worker for each in self._ranks]
        books = self._ranks[0].balancer.books
        return Outcome(
            strategy=self._ranks[0].balancer.strategy.name,
            makespan_s=self._end_s,
            compute_s=tuple(worker.compute_s for worker in workers),
            done=tuple(Spans.of(*worker.parts) for worker in workers),
            synchronizations=books.synchronizations,
            redistributions=self._redistributions,
            moved=self._moved,
            trace=tuple(self._trace),
        )

    def _settle(self, rank: int, now: float) -> None:
        """Carry out actions and take messages until this rank computes, moves data, or waits."""
        each = self._ranks[rank]
        while not (each.blocked or each.worker.busy):
            if each.actions:
                self._carry_out(rank, each.actions.popleft(), now)
            elif each.inbox:
                self._tell(rank, each.inbox.popleft()(now))
            elif not self._goes_on(rank, now):
                return

    def _goes_on(self, rank: int, now: float) -> bool:
        """Begin to compute or to wait; whether there is more to do at once."""
        each, balancer = self._ranks[rank], self._ranks[rank].balancer
        if balancer.finished:
            return False
        if balancer.due(now):
            self._tell(rank, Waited(now))
            return True
        if balancer.runnable:
            each.worker.start(now, balancer.runnable)
            self._look(rank, each.worker.end_s, len(each.worker.spans))
        elif not balancer.waiting:
            self._tell(rank, Exhausted(now))
            return True
        if balancer.wakes_at is not None:
            self._heap.at(balancer.wakes_at, WAKE, partial(self._wake, rank))
        return False

    def _wake(self, rank: int, now: float) -> None:
        each = self._ranks[rank]
        wakes_at = each.balancer.wakes_at
        if wakes_at is None or wakes_at > now or each.blocked:
            return
        if each.worker.busy:
            self._look_up(rank, now)
        else:
            self._tell(rank, Waited(now))
            self._settle(rank, now)

    def _look_up(self, rank: int, now: float) -> None:
        """A computing rank looks around when its iteration is done."""
        each = self._ranks[rank]
        if not each.looks:
            each.looks = True
            self._look(rank, *each.worker.looks(now))

    def _tell(self, rank: int, event: Event) -> None:
        each = self._ranks[rank]
        actions = each.balancer.handle(event)
        each.actions += actions
        self._trace.append(Step(event.now, rank, event, actions))

    def _look(self, rank: int, when: float, count: int) -> None:
        """The rank stops at that time, after so many units, unless it has stopped before."""
        version = self._ranks[rank].worker.version
        self._heap.at(when, WORK, partial(self._stop, rank, version, count))

    def _stop(self, rank: int, version: int, count: int, now: float) -> None:
        each = self._ranks[rank]
        if version != each.worker.version:
            return
        each.looks = False
        course = each.worker.stop(count, self._pieces)
        if course:
            self._tell(rank, Worked(now, *course[-1], course[:-1]))
        self._settle(rank, now)

    def _send(self, ranks: Sequence[int], told: Told, when: float) -> None:
        """A message comes to all of these at that time."""

        def come(now: float) -> None:
            for rank in ranks:
                self._come(rank, told, now)

        self._heap.at(when, MESSAGE, come)

    def _come(self, rank: int, told: Told, now: float) -> None:
        each = self._ranks[rank]
        each.inbox.append(told)
        if not each.worker.busy:
            self._settle(rank, now)
        else:
            self._look_up(rank, now)

    def _carry_out(self, rank: int, action: Action, now: float) -> None:
        match action:
            case Choose():
                self._tell(rank, Asked(now))
            case Announce(name, members):
                takes_s = self._network.one_to_all.seconds(len(members) + 1)
                self._send(members, partial(Committed, strategy=name), now + takes_s)
            case Interrupt(epoch, members):
                takes_s = self._network.one_to_all.seconds(len(members) + 1)
                self._send(members, lambda now: Interrupted(now, epoch), now + takes_s)
            case Exchange(epoch, profile, members):
                self._exchange(rank, epoch, profile, members, now)
            case Report(epoch, profile, master):
                self._report(rank, epoch, profile, master, now)
            case Summon(round, members):
                takes_s = self._network.one_to_all.seconds(len(members) + 1)
                self._send(members, partial(Summoned, round=round), now + takes_s)
            case State(round, statement, heads):
                self._state(rank, round, statement, heads, now)
            case Instruct():
                self._instruct(rank, action, now)
            case Move():
                self._move(rank, action, now)
            case Finish():
                self._end_s = max(self._end_s, now)

    def _gathered(
        self, rank: int, epoch: int, profile: Profile, members: tuple[int, ...]
    ) -> dict[int, Profile]:
        """The profiles of a window, this rank's among them, if they are complete; else nothing."""
        given = self._given.setdefault((members, epoch), {})
        given[rank] = profile
        return self._given.pop((members, epoch)) if len(given) == len(members) else {}

    def _exchange(
        self, rank: int, epoch: int, profile: Profile, members: tuple[int, ...], now: float
    ) -> None:
        if given := self._gathered(rank, epoch, profile, members):
            profiles = tuple(given[member] for member in members)
            takes_s = self._network.all_to_all.seconds(len(members))
            self._send(members, lambda now: Exchanged(now, profiles), now + takes_s)

    def _state(
        self, rank: int, number: int, statement: Statement | None, heads: tuple[int, ...], now: float
    ) -> None:
        """When all have come to the round, each head sends what it states to all ranks."""
        stated = self._stated.setdefault(number, {})
        stated[rank] = statement
        if len(stated) == len(self._ranks):
            given = self._stated.pop(number)
            found = (given[head] for head in heads)
            statements = tuple(each for each in found if each is not None)
            takes_s = self._network.all_to_all.seconds(len(self._ranks))
            self._send(range(len(self._ranks)), partial(Stated, statements=statements), now + takes_s)

    def _report(self, rank: int, epoch: int, profile: Profile, master: int, now: float) -> None:
        members = self._ranks[rank].balancer.books.members
        if given := self._gathered(rank, epoch, profile, members):
            when = now + self._network.all_to_one.seconds(len(members))
            for member in members:
                self._send((master,), partial(Reported, rank=member, profile=given[member]), when)

    def _instruct(self, rank: int, action: Instruct, now: float) -> None:
        """The others of the group hear one after the other; the balancer's host itself first."""

        def told(now: float) -> Event:
            return Instructed(now, action.profiles, action.decision)

        each, begin_s = self._ranks[rank], now + self._network.switch_s
        if rank in action.members:
            each.inbox.appendleft(told)
        others = (member for member in action.members if member != rank)
        for place, member in enumerate(others, 1):
            self._send((member,), told, begin_s + place * self._network.latency_s)
        self._block(rank, begin_s)

    def _block(self, rank: int, until_s: float) -> None:
        """This rank does nothing else until then."""
        self._ranks[rank].blocked = True
        self._heap.at(until_s, WORK, partial(self._release, rank))

    def _release(self, rank: int, now: float) -> None:
        self._ranks[rank].blocked = False
        self._settle(rank, now)

    def _move(self, rank: int, action: Move, now: float) -> None:
        transfers = action.transfers
        key = (self._ranks[rank].balancer.epoch, transfers[0])
        if key not in self._movements:
            self._movements[key] = Movement(transfers)
            self._redistributions += 1
            self._moved += sum(len(transfer.spans) for transfer in transfers)
        movement = self._movements[key]
        self._ranks[rank].blocked = True
        for member, ready_s in movement.join(rank, now, self._links):
            took_s = ready_s - movement.came[member]
            self._heap.at(ready_s, WORK, partial(self._have_moved, member, transfers, took_s))

    def _have_moved(self, rank: int, transfers: Sequence[Transfer], seconds: float, now: float) -> None:
        """All that this rank gives and takes has gone over."""
        self._ranks[rank].balancer.transferred(seconds, self._links.size(rank, transfers))
        self._release(rank, now)
