"""Self-scheduling from a pool (`dlbrt.core.chunks`): a rank that has run out takes the next chunk.

The pool is at rank 0, which computes as well and answers between its own iterations (central chunk
calculation; Eleliemy, Ciorba, arXiv 2101.07050, compare it with the distributed one, `claims`). So a rank
does not ask when it has run out but before, by as long as the last answer took, and by a whole unit at least:
it looks around between units only, and what it would ask amid its last one it would ask without work. So the
answer and its data come while it computes.

Law. The pool shrinks with every chunk, so it is empty after finitely many; whoever asks then is told, and has
ended. Rank 0 has ended when it has told all others. It never waits for anybody but to be asked, and the
others for nobody but rank 0, so there is no cycle of waits.
"""

from __future__ import annotations

from math import ceil

from dlbrt.core.actions import Action, Finish, Give, Resume, Tell
from dlbrt.core.agent import Account, Start
from dlbrt.core.events import Exhausted, Given, Told, Waited, Worked
from dlbrt.core.peers.peer import Peer
from dlbrt.core.peers.store import Store, units_a_tick
from dlbrt.core.peers.words import Nothing, Want
from dlbrt.core.profile import NO_FAILURE
from dlbrt.dist.spans import Spans

__all__ = ["Pooled"]

#: Where it is so many times as long as an answer takes until it is to ask, a rank does not do so yet.
_TOO_EARLY = 0.5

#: An answer that took this part of a unit more than whole units is taken to have taken these.
BEYOND = 0.25

#: While no more than so many units a rank are left rank 0 only serves, if its iterations take many exchanges.
LAST, DEAR = 2, 10.0


class Pooled(Peer):
    """A rank that takes chunks by the rule of that name; rank 0 has the pool."""

    def __init__(self, name: str, rank: int, start: Start, now: float) -> None:
        super().__init__(name, rank, start, now)
        ranks = len(start.shares)
        self._pool = Store(name, self.units, ranks, self.terms.amounts, start.known) if rank == 0 else None
        self._scale = units_a_tick(self.units, self.terms.amounts)
        self._asking = set(range(1, ranks)) if rank == 0 else set()
        self._asked_at: float | None = None
        self._answer_s = self.answer_s
        self._empty = False
        self._told_at = now
        self._told_units, self._told_s, self._tick_s = 0, 0.0, 0.0
        self._begin(now)

    @property
    def waiting(self) -> bool:
        """Whether a chunk is on its way, or others are still to be served."""
        return self._asked_at is not None or self._empty or self._serves_only

    @property
    def finished(self) -> bool:
        """Whether nothing is left here, and nobody is to be told so."""
        return self._empty and not self.work and not self._asking

    @property
    def wakes_at(self) -> float | None:
        """When this rank asks for its next chunk."""
        return self._asks_at if self._asked_at is None and not self._empty and self.work else None

    def account(self) -> Account:
        """The chunks that the pool has given out, first ones apart, count as synchronizations."""
        return Account() if self._pool is None else Account(self._pool.chunks - self._pool.dealt_first)

    def _begin(self, now: float) -> None:
        """A chunk begins: when the next one is asked for; None: not before it has run out.

        That is amid the unit before those that are to be left then: a rank looks around when one ends.
        """
        held, lasts_s = len(self.work), self._lasts_s
        self._asks_at = None
        if self.rank and lasts_s > 0:
            unit_s = lasts_s / held
            ahead = min(held, max(1, ceil(self._answer_s / unit_s - BEYOND)))
            before_s = self.terms.amounts.of_first(self.work, held - ahead) * self._tick_s
            self._asks_at = now + max(0.0, before_s - unit_s / 2)

    @property
    def _lasts_s(self) -> float:
        """How long the work held is going to take, by what work has taken lately; 0: not known."""
        return self.terms.amounts.of(self.work) * self._tick_s

    def _worked(self, event: Worked) -> tuple[Action, ...]:
        """As `Peer._worked`; whoever has heard before that nothing is left, ends with its last unit."""
        actions = super()._worked(event)
        return (*actions, Finish()) if self.finished else actions

    def _note(self, did: Spans, event: Worked) -> None:
        ticks = self.terms.amounts.of(did)
        self._tick_s = event.compute_s / ticks if ticks else self._tick_s
        self._told_units += ticks
        self._told_s += event.compute_s

    def _want(self, now: float) -> Want:
        """A request, with what was done since the last one."""
        units, seconds = self._told_units * self._scale, self._told_s
        total_s = max(seconds, now - self._told_at)
        self._told_at, self._told_units, self._told_s = now, 0, 0.0
        return Want(units, seconds, total_s, self.unit_s)

    @property
    def _serves_only(self) -> bool:
        """Whether rank 0 leaves the rest to the others, who would wait for its iterations."""
        if self._pool is None or not self._asking or self.work:
            return False
        dear = self.unit_s > DEAR * self.answer_s
        return dear and self._pool.left <= LAST * len(self.dealt)

    def _exhausted(self, event: Exhausted) -> tuple[Action, ...]:
        if self._pool is None:
            return self._ask(event.now)
        return () if self._serves_only else self._take(event.now, self._pool)

    def _waited(self, event: Waited) -> tuple[Action, ...]:
        if not self.due(event.now):
            return ()
        self._begin(event.now)
        if self._asks_at is not None and self._asks_at > event.now + _TOO_EARLY * self._answer_s:
            return ()  # work has become dearer, or this rank slower
        return self._ask(event.now)

    def _ask(self, now: float) -> tuple[Action, ...]:
        self._asked_at = now
        return (Tell((0,), self._want(now)),)

    def _take(self, now: float, pool: Store) -> tuple[Action, ...]:
        """Rank 0 takes a chunk itself."""
        pool.report(0, self._want(now))
        self.work = pool.deal(0, self.failed_at, self.unit_s)
        self._empty = not self.work
        return (Resume() if self.work else Finish(),)

    def _told(self, event: Told) -> tuple[Action, ...]:
        if isinstance(event.word, Want) and self._pool is not None:
            return self._serve(event.source, event.word, self._pool)
        if isinstance(event.word, Nothing) and self._asked_at is not None:
            self._asked_at, self._empty = None, True
            return () if self.work else (Finish(),)
        raise ValueError(f"rank {self.rank} cannot be told {event.word} by rank {event.source}")

    def _serve(self, rank: int, said: Want, pool: Store) -> tuple[Action, ...]:
        pool.report(rank, said)
        if chunk := pool.deal(rank, self.failed_at, said.unit_s):
            return (Give(rank, chunk),)
        self._asking.discard(rank)
        return (Tell((rank,), Nothing()),)

    def _given(self, event: Given) -> tuple[Action, ...]:
        if self._asked_at is None:
            raise ValueError(f"rank {self.rank} was given units that it had not asked for")
        self._answer_s = max(event.now - self._asked_at, 0.9 * self._answer_s)
        self._asked_at = None
        units = (
            event.units if self.failed_at == NO_FAILURE else self.units.wanted(event.units, self.failed_at)
        )
        self.work = self.work.then(units)
        self._begin(event.now)
        return (Resume(),)
