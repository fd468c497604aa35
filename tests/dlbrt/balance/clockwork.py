"""A clock of its own for the balancer: ranks of given speeds in virtual time, for tests of the policy.

Each rank works off its share in chunks; interrupts and exchanges take a fixed latency, or with ``jitter`` up
to twenty times as long, each rank's copy of a message for itself, so that messages overtake one another.
Nothing else is random, and nothing waits: the same input gives the same trace.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, assert_never

from dlbrt.balance.actions import (
    Action,
    AnnounceStrategy,
    ClaimChunks,
    ExchangeProfiles,
    Finish,
    Interrupt,
    Move,
    NotifyFailure,
    RequestChoice,
    RequestGroupExchange,
    Resume,
    Send,
    SendGroupReport,
    SendInstructions,
    SendProfile,
    SendWork,
)
from dlbrt.balance.events import (
    ChoiceRequested,
    Event,
    Exhausted,
    Failed,
    FailureNotified,
    GroupExchangeRequested,
    GroupReportsReceived,
    InstructionsReceived,
    Interrupted,
    ProfileReceived,
    ProfilesExchanged,
    Received,
    StrategyAnnounced,
    TimeElapsed,
    Worked,
    WorkReceived,
)
from dlbrt.balance.group_exchange import GroupExchangeBalancer
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.member import ChoiceRule
from dlbrt.balance.messages import GroupReport, Profile
from dlbrt.balance.strategies import synchronizing
from dlbrt.data.layout import block, cyclic
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import GroupRules

TICK = 1e-3


@dataclass
class Run:
    """What happened: positions done by each rank, times, movements, actions in order."""

    done: list[list[int]]
    makespan: float = 0.0
    moves: list[Move] = field(default_factory=list)
    synchronizations: int = 0
    trace: list[tuple[float, int, Action]] = field(default_factory=list)
    failed_at: int | None = None
    raised: list[int] = field(default_factory=list)


class Clockwork:
    def __init__(
        self,
        n: int,
        speeds: Sequence[float],
        name: str = "GDDLB",
        *,
        chunk_s: float = 5e-3,
        latency: float = 1e-4,
        cost: Callable[[int], float] = lambda position: 1.0,
        fails: frozenset[int] = frozenset(),
        dealt: str = "block",
        folded: bool = False,
        work_table: WorkTable = UNIFORM,
        shares: tuple[Spans, ...] | None = None,
        parameters: Parameters | None = None,
        groups: Sequence[Sequence[int]] = (),
        commit: ChoiceRule | None = None,
        jitter: int | None = None,
        rules: GroupRules | None = None,
    ) -> None:
        ranks = len(speeds)
        self.units = Units(0, n, folded)
        shares = shares or (cyclic if dealt == "cyclic" else block)(len(self.units), ranks)
        parameters = parameters or Parameters()
        context = BalancingContext(self.units, parameters, parameters.exchange_s, work_table)
        self.speeds, self.cost, self.fails = speeds, cost, fails
        self.chunk_s, self.latency = chunk_s, latency
        self.jitter = None if jitter is None else Random(jitter)
        self.synchronizations = 0
        self.balancers: list[Any] = [
            GroupExchangeBalancer(
                rank, shares, synchronizing(name), context, 0.0, groups, commit, rules=rules
            )
            for rank in range(ranks)
        ]
        self.run_so_far = Run([[] for _ in range(ranks)])
        self.profiles: dict[tuple[tuple[int, ...], int], dict[int, Profile]] = {}
        self.reports: list[dict[int, list[GroupReport]]] = [{} for _ in range(ranks)]
        self.came: dict[tuple[int, int], float] = {}
        self.wanted: list[tuple[int, ...]] = [()] * ranks
        self.pending: list[list[Callable[[float], Event]]] = [[] for _ in range(ranks)]
        self.busy = [False] * ranks
        self.heap: list[tuple[float, int, int, Callable[[float], None]]] = []
        self.order = itertools.count()
        self.steps = 0

    def run(self) -> Run:
        for rank in range(len(self.speeds)):
            self._at(0.0, rank, lambda now, rank=rank: self._work(rank, now))
        while self.heap:
            self.steps += 1
            assert self.steps < 1_000_000, "the balancer does not come to an end"
            now, _, _, step = heapq.heappop(self.heap)
            step(now)
        assert all(balancer.finished for balancer in self.balancers), "a rank waits for ever"
        self.run_so_far.failed_at = min(balancer.failed_at for balancer in self.balancers)
        self.run_so_far.synchronizations = self.synchronizations + self.balancers[0].counts().synchronizations
        return self.run_so_far

    def _at(self, when: float, rank: int, step: Callable[[float], None]) -> None:
        heapq.heappush(self.heap, (when, rank, next(self.order), step))

    def _tell(self, rank: int, event: Event) -> None:
        actions = self.balancers[rank].handle(event)
        if (successor := self.balancers[rank].successor) is not None:
            self.synchronizations = max(self.synchronizations, self.balancers[rank].counts().synchronizations)
            self.balancers[rank] = successor
            self._at(event.now, rank, lambda now: self._tick_peer(rank, now))
        for action in actions:
            self.run_so_far.trace.append((event.now, rank, action))
            self._do(rank, event.now, action)

    def _do(self, rank: int, now: float, action: Action) -> None:
        match action:
            case Interrupt(epoch, members):
                self._post(now, members, lambda now: Interrupted(now, epoch))
            case NotifyFailure(position, members):
                self._post(now, members, lambda now: FailureNotified(now, position))
            case ExchangeProfiles(epoch, profile, members):
                self._collect(rank, now, epoch, profile, members)
            case SendProfile(epoch, profile, master):
                self._post(now, (master,), lambda now: ProfileReceived(now, rank, profile))
                self._at(now + TICK, rank, lambda now: self._tick(rank, epoch, now))
            case SendInstructions(members, profiles, decision):
                self._post(now, members, lambda now: InstructionsReceived(now, profiles, decision))
            case Move(transfers):
                if rank == min(transfer.source for transfer in transfers):
                    self.run_so_far.moves.append(action)
            case RequestGroupExchange(round, members):
                self._post(now, members, lambda now: GroupExchangeRequested(now, round))
            case SendGroupReport(_, report, heads):
                self._state(rank, now, report, heads)
            case RequestChoice():
                self._tell(rank, ChoiceRequested(now))
                self._at(now, rank, lambda now: self._work(rank, now))
            case Send(targets, word):
                self._post_in_order(rank, now, targets, lambda now: Received(now, rank, word))
            case SendWork(target, units):
                self._post_in_order(rank, now, (target,), lambda now: WorkReceived(now, rank, units))
            case AnnounceStrategy(name, members):
                self._post(now, members, lambda now: StrategyAnnounced(now, name))
            case Resume():
                self._at(now, rank, lambda now: self._work(rank, now))
            case Finish():
                self.run_so_far.makespan = max(self.run_so_far.makespan, now)
            case ClaimChunks():
                raise AssertionError("no balancer claims from a counter")
            case _:
                assert_never(action)

    def _post(self, now: float, targets: Sequence[int], event: Callable[[float], Event]) -> None:
        """An event for some ranks, after the latency; a busy one takes it at its next look."""
        for target in targets:
            self._at(
                now + self._latency(),
                target,
                lambda now, target=target: self._arrive(target, now, event),
            )

    def _post_in_order(
        self, rank: int, now: float, targets: Sequence[int], event: Callable[[float], Event]
    ) -> None:
        """Words of one rank to another do not overtake one another."""
        for target in targets:
            when = max(now + self._latency(), self.came.get((rank, target), 0.0))
            self.came[rank, target] = when
            self._at(when, target, lambda now, target=target: self._arrive(target, now, event))

    def _tick_peer(self, rank: int, now: float) -> None:
        """An agent without work that waits for the clock is told how time goes by; one that has none, so."""
        agent = self.balancers[rank]
        if agent.finished:
            return
        if not self.busy[rank]:
            self._work(rank, now)
        if not (agent.runnable or agent.finished):
            self._tell(rank, TimeElapsed(now))
        self._at(now + TICK, rank, lambda now: self._tick_peer(rank, now))

    def _latency(self) -> float:
        return self.latency * (1.0 if self.jitter is None else self.jitter.uniform(1, 20))

    def _state(self, rank: int, now: float, report: GroupReport | None, heads: tuple[int, ...]) -> None:
        """A head's statement is under way to all; each rank takes one of each that it waits for."""
        assert not self.wanted[rank], "a rank came twice to a round"
        self.wanted[rank] = heads
        for target in range(len(self.balancers)) if report is not None else ():
            # From one rank to another messages do not overtake one another.
            when = now + (self._latency() if target != rank else 0.0)
            self.came[rank, target] = when = max(when, self.came.get((rank, target), 0.0))
            self._at(
                when,
                target,
                lambda now, target=target: self._take(target, now, rank, report),
            )
        self._take(rank, now, rank, None)
        epoch = self.balancers[rank].epoch
        self._at(now + TICK, rank, lambda now: self._tick(rank, epoch, now))

    def _take(self, rank: int, now: float, head: int, report: GroupReport | None) -> None:
        come = self.reports[rank]
        if report is not None:
            come.setdefault(head, []).append(report)
        wanted = self.wanted[rank]
        if wanted and all(come.get(each) for each in wanted):
            reports = tuple(come[each].pop(0) for each in wanted)
            self.wanted[rank] = ()
            self._arrive(rank, now, lambda now: GroupReportsReceived(now, reports))

    def _arrive(self, rank: int, now: float, event: Callable[[float], Event]) -> None:
        if self.busy[rank]:
            self.pending[rank].append(event)
        else:
            self._tell(rank, event(now))

    def _collect(self, rank: int, now: float, epoch: int, profile: Profile, members: tuple[int, ...]) -> None:
        given = self.profiles.setdefault((members, epoch), {})
        assert rank not in given, "a rank gave two profiles to one exchange"
        given[rank] = profile
        if len(given) == len(members):
            profiles = tuple(given[r] for r in members)
            self._post(now, members, lambda now: ProfilesExchanged(now, profiles))
        else:
            self._at(now + TICK, rank, lambda now: self._tick(rank, epoch, now))

    def _tick(self, rank: int, epoch: int, now: float) -> None:
        balancer = self.balancers[rank]
        if balancer.waiting and not balancer.finished and getattr(balancer, "epoch", None) == epoch:
            self._tell(rank, TimeElapsed(now))
            self._at(now + TICK, rank, lambda now: self._tick(rank, epoch, now))

    def _work(self, rank: int, now: float) -> None:
        if self.busy[rank]:
            return
        pending, self.pending[rank] = self.pending[rank], []
        for event in pending:
            self._tell(rank, event(now))
        balancer = self.balancers[rank]  # perhaps another than before
        if balancer.due(now):
            self._tell(rank, TimeElapsed(now))
        if balancer.runnable and not balancer.finished:
            self._chunk(rank, now, balancer.runnable)
        elif not (balancer.waiting or balancer.finished):
            self._tell(rank, Exhausted(now))

    def _chunk(self, rank: int, now: float, work: Spans) -> None:
        """The next units, up to about the chunk's length; folded ones in two stretches, as they are run."""
        chunk = self._next(rank, work)
        wanted = [p for run in self.units.stretches(chunk) for p in run if p < self.balancers[rank].failed_at]
        failed = next((p for p in wanted if p in self.fails), None)
        positions = wanted if failed is None else wanted[: wanted.index(failed)]
        seconds = sum(self.cost(p) for p in positions) / self.speeds[rank]
        if failed is not None:
            seconds += self.cost(failed) / self.speeds[rank]
        # Of single iterations the one that failed is not done; of pairs the chunk is over.
        units = len(chunk) if failed is None or self.units.folded else len(positions)
        self.busy[rank] = True
        self._at(
            now + seconds, rank, lambda now: self._finish_chunk(rank, now, seconds, units, positions, failed)
        )

    def _next(self, rank: int, work: Spans) -> range:
        run, seconds = work.runs[0], 0.0
        for count, unit in enumerate(run, 1):
            positions = (p for part in self.units.stretches(range(unit, unit + 1)) for p in part)
            seconds += sum(map(self.cost, positions)) / self.speeds[rank]
            if seconds >= self.chunk_s:
                return run[:count]
        return run

    def _finish_chunk(
        self, rank: int, now: float, seconds: float, units: int, positions: list[int], failed: int | None
    ) -> None:
        self.busy[rank] = False
        self.run_so_far.done[rank] += positions
        self._tell(rank, Worked(now, units, seconds))
        if failed is not None:
            self.run_so_far.raised.append(failed)
            self._tell(rank, Failed(now, failed))
        self._work(rank, now)
