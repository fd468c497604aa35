"""A clock of its own for the balancer: ranks of given speeds in virtual time, for tests of the policy.

Each rank works off its share in chunks; interrupts and exchanges take a fixed latency. Nothing is
random and nothing waits: the same input gives the same trace.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dlbrt.core.actions import Action, Exchange, Finish, Interrupt, Move, Resume
from dlbrt.core.balancer import Balancer
from dlbrt.core.events import Event, Exchanged, Exhausted, Failed, Interrupted, Waited, Worked
from dlbrt.core.parameters import Parameters
from dlbrt.core.profile import Profile
from dlbrt.core.registry import strategy
from dlbrt.dist.amounts import UNIFORM, Amounts
from dlbrt.dist.layout import block, cyclic
from dlbrt.dist.spans import Spans
from dlbrt.dist.units import Units

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
        amounts: Amounts = UNIFORM,
        shares: tuple[Spans, ...] | None = None,
        parameters: Parameters | None = None,
    ) -> None:
        ranks = len(speeds)
        self.units = Units(0, n, folded)
        shares = shares or (cyclic if dealt == "cyclic" else block)(len(self.units), ranks)
        self.speeds, self.cost, self.fails = speeds, cost, fails
        self.chunk_s, self.latency = chunk_s, latency
        self.balancers = [
            Balancer(
                rank,
                shares,
                strategy(name),
                parameters or Parameters(),
                0.0,
                units=self.units,
                amounts=amounts,
            )
            for rank in range(ranks)
        ]
        self.run_so_far = Run([[] for _ in range(ranks)])
        self.profiles: dict[int, dict[int, Profile]] = {}
        self.pending: list[list[Interrupted]] = [[] for _ in range(ranks)]
        self.late: list[list[Exchanged]] = [[] for _ in range(ranks)]
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
        self.run_so_far.failed_at = self.balancers[0].failed_at
        self.run_so_far.synchronizations = self.balancers[0].synchronizations
        return self.run_so_far

    def _at(self, when: float, rank: int, step: Callable[[float], None]) -> None:
        heapq.heappush(self.heap, (when, rank, next(self.order), step))

    def _tell(self, rank: int, event: Event) -> None:
        for action in self.balancers[rank].handle(event):
            self.run_so_far.trace.append((event.now, rank, action))
            self._do(rank, event.now, action)

    def _do(self, rank: int, now: float, action: Action) -> None:
        match action:
            case Interrupt(epoch):
                for other in range(len(self.speeds)):
                    if other != rank:
                        note = Interrupted(now + self.latency, epoch)
                        self._at(note.now, other, lambda now, other=other, note=note: self._note(other, note))
            case Exchange(epoch, profile):
                self._collect(rank, now, epoch, profile)
            case Move():
                if rank == 0:
                    self.run_so_far.moves.append(action)
            case Resume():
                self._at(now, rank, lambda now: self._work(rank, now))
            case Finish():
                self.run_so_far.makespan = max(self.run_so_far.makespan, now)

    def _note(self, rank: int, note: Interrupted) -> None:
        if self.busy[rank]:
            self.pending[rank].append(note)
        else:
            self._tell(rank, note)

    def _exchanged(self, rank: int, event: Exchanged) -> None:
        if self.busy[rank]:
            self.late[rank].append(event)
        else:
            self._tell(rank, event)

    def _collect(self, rank: int, now: float, epoch: int, profile: Profile) -> None:
        given = self.profiles.setdefault(epoch, {})
        assert rank not in given, "a rank gave two profiles to one exchange"
        given[rank] = profile
        if len(given) == len(self.speeds):
            profiles = tuple(given[r] for r in range(len(self.speeds)))
            for other in range(len(self.speeds)):
                event = Exchanged(now + self.latency, profiles)
                self._at(
                    event.now, other, lambda now, other=other, event=event: self._exchanged(other, event)
                )
        else:
            self._at(now + TICK, rank, lambda now: self._tick(rank, epoch, now))

    def _tick(self, rank: int, epoch: int, now: float) -> None:
        balancer = self.balancers[rank]
        if balancer.waiting and balancer.epoch == epoch and not balancer.finished:
            self._tell(rank, Waited(now))
            if len(self.profiles[epoch]) < len(self.speeds):
                self._at(now + TICK, rank, lambda now: self._tick(rank, epoch, now))

    def _work(self, rank: int, now: float) -> None:
        balancer = self.balancers[rank]
        if self.busy[rank]:
            return
        for note in self.pending[rank]:
            self._tell(rank, Interrupted(now, note.epoch))
        self.pending[rank].clear()
        late, self.late[rank] = self.late[rank], []
        for event in late:
            self._tell(rank, Exchanged(now, event.profiles))
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
            self._tell(rank, Failed(now, failed))
        self._work(rank, now)
