"""Plays a loop on ranks that one network connects, and checks the laws of balancing after each event.

A rank may run only units that it has, rows included, and that nobody has done; what it gives away it has; all
members of a group mean the same window. When a rank ends, nothing is left with it. At the end each position
before the lowest failure was done once, none twice; no message is left that only this loop could take. A rank
that waits while nothing is under way and nobody computes waits for ever.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Callable, Sequence
from math import inf
from random import Random
from typing import Any

from dlbrt.balance.agent import Agent
from dlbrt.balance.messages import NO_FAILURE
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units

from tests.fuzz.schedule_network import (
    MESSAGE,
    TIMER,
    WITHOUT_SERIAL,
    Draws,
    Network,
    Played,
    Rows,
    Steps,
    Violation,
    Wait,
    mask,
    numbers,
    union,
)
from tests.fuzz.schedule_rank import Rank

#: A play that has not ended after so many steps does not end.
MOST_STEPS = 30_000


class Play:
    """One loop on all ranks, from ``shares`` of the ``units``.

    ``make`` makes the agent of a rank at a time, ``cost_s`` says what a position takes on the quickest rank.
    Under ``rendezvous`` a rank that has sent rows waits until they are taken. The body raises at
    the positions ``fails_at``; the user interrupts each rank of ``interrupts`` at a time. Where only some
    units are ``left``, the others are done.
    """

    def __init__(
        self,
        make: Callable[[int, float], Agent],
        units: Units,
        shares: Sequence[Spans],
        random: Random,
        draws: Draws,
        cost_s: Callable[[int], float],
        *,
        rows: Rows,
        rendezvous: bool,
        fails_at: frozenset[int] = frozenset(),
        interrupts: Sequence[tuple[int, float]] = (),
        traced: bool = False,
        left: Spans | None = None,
    ) -> None:
        self.random, self.draws, self.cost_s = random, draws, cost_s
        self.rows, self.rendezvous, self.fails_at = rows, rendezvous, fails_at
        self.units, self.traced, self.now = units, traced, 0.0
        self.network = Network(random, draws, len(shares), self._wake_at)
        self.played = Played([[] for _ in shares])
        self.owned = [mask(share) for share in shares]
        self.done = [0] * len(shares)
        self.left = units.all if left is None else left
        #: Not dealt yet: with rank 0, which has the pool, or with the counter.
        self.free = mask(self.left) & ~union(self.owned)
        #: Movements of which only one side has come so far: by source and target, the side and the units.
        self.one_sided: dict[tuple[int, int], deque[tuple[int, Spans]]] = {}
        self.counter = 0
        self.exchanges: list[dict[int, tuple[int, Any, float]]] = []
        self.ranks = [Rank(self, rank, make) for rank in range(len(shares))]
        self._heap: list[tuple[float, float, int, int, int]] = []
        self._order = itertools.count()
        for rank, when in interrupts:
            self.ranks[rank].interrupted_at = when
            self._wake_at(when, rank)

    def run(self, until: float = inf) -> Played | None:
        """To the end of all ranks; `Violation` if that does not come, or a law does not hold.

        None where it has not come ``until`` a time, or so shortly before that rank 0 has not gathered yet.
        """
        running: list[Steps | None] = [each.life() for each in self.ranks]
        for rank in range(len(self.ranks)):
            self._resume_at(self.network.rounded(self.random.random() * self.draws.latency_s * 20), rank)
        steps = 0
        while self._heap:
            if self._heap[0][0] > until:
                return None
            steps += 1
            if steps > MOST_STEPS:
                raise Violation(f"no end after {steps} steps")
            self.now, _, _, rank, version = heapq.heappop(self._heap)
            each, life = self.ranks[rank], running[rank]
            if (
                life is None
                or version not in (each.version, ANY_VERSION)
                or (version == ANY_VERSION and not each.waits)
            ):
                continue
            try:
                self._rest(each, next(life))
            except StopIteration:
                running[rank] = None
        if waiting := [rank for rank, life in enumerate(running) if life is not None]:
            raise Violation(f"ranks {waiting} wait for ever")
        self._check_the_end()
        return self.played if self.now + self.draws.latency_s < until else None

    def _rest(self, each: Rank, wait: Wait) -> None:
        each.version += 1
        each.waits = wait < 0
        if not each.waits:
            self._resume_at(self.now + wait, each.rank)
        elif wait == TIMER and (timer_at := each.agent.timer_at) is not None:
            self._resume_at(max(self.now, timer_at) + self.late_s(), each.rank)

    def _resume_at(self, when: float, rank: int) -> None:
        version = self.ranks[rank].version
        heapq.heappush(self._heap, (when, self.random.random(), next(self._order), rank, version))

    def _wake_at(self, when: float, rank: int) -> None:
        """A rank that waits looks some time after something has come."""
        entry = (when + self.late_s(), self.random.random(), next(self._order), rank, ANY_VERSION)
        heapq.heappush(self._heap, entry)

    def has_rows(self, target: int) -> bool:
        """Whether what is moved to a rank comes with rows; rank 0 has those that do not stay on the ranks."""
        return self.rows is Rows.RESIDENT or (self.rows is Rows.MOVED and target != 0)

    def late_s(self) -> float:
        """How late a rank that waits looks."""
        late_s = self.network.rounded(self.random.random() * self.draws.late_s)
        return max(late_s, self.draws.tick_s or 1e-7)

    def log(self, rank: int, text: str) -> None:
        """A line of the trace."""
        if self.traced:
            self.played.trace.append(f"{self.now:.7f} {rank}: {text}")

    def check(self, rank: int, agent: Agent) -> None:
        """What holds after each event of a rank."""
        may_run = mask(agent.runnable)
        if agent.claims_chunks or rank == 0:
            self._deal(rank, may_run)
        if foreign := may_run & ~self.owned[rank]:
            raise Violation(f"rank {rank} may run {numbers(foreign)}, which it does not have")
        if again := may_run & union(self.done):
            raise Violation(f"rank {rank} may run {numbers(again)} again")

    def give(self, rank: int, units: Spans) -> None:
        """A rank gives units away; they are under way."""
        given = mask(units)
        if not given:
            raise Violation(f"rank {rank} gives nothing")
        if rank == 0:
            self._deal(rank, given)
        if foreign := given & ~self.owned[rank]:
            raise Violation(f"rank {rank} gives {numbers(foreign)}, which it does not have")
        if again := given & self.done[rank]:
            raise Violation(f"rank {rank} gives {numbers(again)}, which it has done")
        self.owned[rank] &= ~given

    def _deal(self, rank: int, units: int) -> None:
        """Units that were not dealt yet are a rank's."""
        self.owned[rank] |= units & self.free
        self.free &= ~units

    def agree(self, side: int, source: int, target: int, units: Spans) -> None:
        """One side of a movement without rows has come; the other side means the same units."""
        waiting = self.one_sided.setdefault((source, target), deque())
        if not waiting or waiting[0][0] == side:
            waiting.append((side, units))
        elif (other := waiting.popleft()[1]) != units:
            raise Violation(f"ranks {source} and {target} move {units} and {other}")

    def check_end_of(self, rank: int, agent: Agent) -> None:
        """What holds when a rank ends."""
        left = Spans.of(*(range(unit, unit + 1) for unit in numbers(self.owned[rank] & ~self.done[rank])))
        wanted = [p for run in self.units.positions(left).runs for p in run if p < agent.failed_at]
        if left and wanted:
            raise Violation(f"rank {rank} has ended, and positions {wanted} are left with it")

    def _check_the_end(self) -> None:
        played = self.played
        played.messages, played.end_s = self.network.sent, self.now
        known = min(each.agent.failed_at for each in self.ranks)
        cut = played.interrupted and known == 0  # otherwise all was done when the interrupt came
        lowest = 0 if cut else min(played.raised, default=NO_FAILURE)
        counts = Counter(itertools.chain.from_iterable(played.done))
        positions = {p for run in self.units.positions(self.left).runs for p in run}
        if lost := [p for p in positions if p < lowest and not counts[p]]:
            raise Violation(f"positions {lost} are lost")
        if twice := [p for p, count in counts.items() if count > 1]:
            raise Violation(f"positions {twice} are done twice")
        if len(played.raised) > len(set(played.raised)):
            raise Violation(f"a position is run again that has raised: {played.raised}")
        first = min(self.fails_at & positions, default=NO_FAILURE)
        if known != lowest or (lowest != first and not cut):
            raise Violation(f"position {first} fails first, {lowest} has failed, {known} is known")
        for target, tag, source, content in self.network.left():
            if tag in WITHOUT_SERIAL or (tag == MESSAGE and isinstance(content, Spans)):
                raise Violation(f"rank {target} has not taken {tag} {content} of rank {source}")
        if any(self.one_sided.values()):
            raise Violation(f"one side has not come to a movement: {self.one_sided}")
        if any(len(each) != len(self.ranks) for each in self.exchanges):
            raise Violation("not all ranks came to an exchange of all")
        played.synchronizations = sum(
            (each.past_counts + each.agent.counts()).synchronizations for each in self.ranks
        )


#: Wakes a rank that waits, whatever it waits for.
ANY_VERSION = -1
