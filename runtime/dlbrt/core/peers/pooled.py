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

from dlbrt.core.actions import Action, Finish, Resume, Send, SendWork
from dlbrt.core.agent import BalancingCounts, InitialState
from dlbrt.core.events import Exhausted, Received, TimeElapsed, Worked, WorkReceived
from dlbrt.core.parameters import POOL_DEAR_EXCHANGES, POOL_LAST_UNITS, POOL_SLACK_UNITS
from dlbrt.core.peers.peer import Peer
from dlbrt.core.peers.store import ChunkPool, units_per_quantum
from dlbrt.core.peers.words import ChunkRequest, PoolEmpty
from dlbrt.core.profile import NO_FAILURE
from dlbrt.dist.spans import Spans

__all__ = ["PoolPeer"]

#: Where it is so many times as long as an answer takes until it is to ask, a rank does not do so yet.
_TOO_EARLY = 0.5


class PoolPeer(Peer):
    """A rank that takes chunks by the rule of that name; rank 0 has the pool."""

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:
        super().__init__(name, rank, start, now)
        ranks = len(start.shares)
        self._pool = (
            ChunkPool(name, self.units, ranks, self.context.work_table, start.known) if rank == 0 else None
        )
        self._scale = units_per_quantum(self.units, self.context.work_table)
        self._requesters = set(range(1, ranks)) if rank == 0 else set()
        self._requested_at: float | None = None
        self._answer_s = self.answer_s
        self._empty = False
        self._reported_at = now
        self._reported_units, self._reported_s, self._quantum_s = 0, 0.0, 0.0
        self._begin(now)

    @property
    def waiting(self) -> bool:
        """Whether a chunk is on its way, or others are still to be served."""
        return self._requested_at is not None or self._empty or self._serves_only

    @property
    def finished(self) -> bool:
        """Whether nothing is left here, and nobody is to be told so."""
        return self._empty and not self.work and not self._requesters

    @property
    def timer_at(self) -> float | None:
        """When this rank asks for its next chunk."""
        return self._request_at if self._requested_at is None and not self._empty and self.work else None

    def counts(self) -> BalancingCounts:
        """The chunks that the pool has given out, first ones apart, count as synchronizations."""
        return (
            BalancingCounts()
            if self._pool is None
            else BalancingCounts(self._pool.chunks - self._pool.initial_chunks)
        )

    def _begin(self, now: float) -> None:
        """A chunk begins: when the next one is asked for; None: not before it has run out.

        That is amid the unit before those that are to be left then: a rank looks around when one ends.
        """
        held, lasts_s = len(self.work), self._lasts_s
        self._request_at = None
        if self.rank and lasts_s > 0:
            unit_s = lasts_s / held
            ahead = min(held, max(1, ceil(self._answer_s / unit_s - POOL_SLACK_UNITS)))
            before_s = self.context.work_table.of_first(self.work, held - ahead) * self._quantum_s
            self._request_at = now + max(0.0, before_s - unit_s / 2)

    @property
    def _lasts_s(self) -> float:
        """How long the work held is going to take, by what work has taken lately; 0: not known."""
        return self.context.work_table.of(self.work) * self._quantum_s

    def _worked(self, event: Worked) -> tuple[Action, ...]:
        """As `Peer._worked`; whoever has heard before that nothing is left, ends with its last unit."""
        actions = super()._worked(event)
        return (*actions, Finish()) if self.finished else actions

    def _record_progress(self, did: Spans, event: Worked) -> None:
        quanta = self.context.work_table.of(did)
        self._quantum_s = event.compute_s / quanta if quanta else self._quantum_s
        self._reported_units += quanta
        self._reported_s += event.compute_s

    def _chunk_request(self, now: float) -> ChunkRequest:
        """A request, with what was done since the last one."""
        units, seconds = self._reported_units * self._scale, self._reported_s
        total_s = max(seconds, now - self._reported_at)
        self._reported_at, self._reported_units, self._reported_s = now, 0, 0.0
        return ChunkRequest(units, seconds, total_s, self.unit_s)

    @property
    def _serves_only(self) -> bool:
        """Whether rank 0 leaves the rest to the others, who would wait for its iterations."""
        if self._pool is None or not self._requesters or self.work:
            return False
        dear = self.unit_s > POOL_DEAR_EXCHANGES * self.answer_s
        return dear and self._pool.left <= POOL_LAST_UNITS * len(self.dealt)

    def _exhausted(self, event: Exhausted) -> tuple[Action, ...]:
        if self._pool is None:
            return self._request_chunk(event.now)
        return () if self._serves_only else self._take(event.now, self._pool)

    def _time_elapsed(self, event: TimeElapsed) -> tuple[Action, ...]:
        if not self.due(event.now):
            return ()
        self._begin(event.now)
        if self._request_at is not None and self._request_at > event.now + _TOO_EARLY * self._answer_s:
            return ()  # work has become dearer, or this rank slower
        return self._request_chunk(event.now)

    def _request_chunk(self, now: float) -> tuple[Action, ...]:
        self._requested_at = now
        return (Send((0,), self._chunk_request(now)),)

    def _take(self, now: float, pool: ChunkPool) -> tuple[Action, ...]:
        """Rank 0 takes a chunk itself."""
        pool.report(0, self._chunk_request(now))
        self.work = pool.deal(0, self.failed_at, self.unit_s)
        self._empty = not self.work
        return (Resume() if self.work else Finish(),)

    def _message_received(self, event: Received) -> tuple[Action, ...]:
        if isinstance(event.message, ChunkRequest) and self._pool is not None:
            return self._serve(event.source, event.message, self._pool)
        if isinstance(event.message, PoolEmpty) and self._requested_at is not None:
            self._requested_at, self._empty = None, True
            return () if self.work else (Finish(),)
        raise ValueError(f"rank {self.rank} cannot be told {event.message} by rank {event.source}")

    def _serve(self, rank: int, request: ChunkRequest, pool: ChunkPool) -> tuple[Action, ...]:
        pool.report(rank, request)
        if chunk := pool.deal(rank, self.failed_at, request.unit_s):
            return (SendWork(rank, chunk),)
        self._requesters.discard(rank)
        return (Send((rank,), PoolEmpty()),)

    def _work_received(self, event: WorkReceived) -> tuple[Action, ...]:
        if self._requested_at is None:
            raise ValueError(f"rank {self.rank} was given units that it had not asked for")
        self._answer_s = max(event.now - self._requested_at, 0.9 * self._answer_s)
        self._requested_at = None
        units = (
            event.units if self.failed_at == NO_FAILURE else self.units.wanted(event.units, self.failed_at)
        )
        self.work = self.work.then(units)
        self._begin(event.now)
        return (Resume(),)
