"""Self-scheduling from a pool (`dlbrt.chunks`): a rank that has run out takes the next chunk.

The pool is at rank 0, which computes as well, and answers between its own iterations and within long ones
(`dlbrt.balance.events.UnderWay`; central chunk calculation; Eleliemy, Ciorba, arXiv 2101.07050, compare it
with the distributed one, `dlbrt.balance.self_scheduling`). So a rank asks before it has run out, by as long
as the last answer took, and by at least a whole unit: it asks between units only, so a request that falls due
during its last unit would leave when it has no work. So the answer and its data come while it computes.

A rule deals units in their order. The first P chunks are dealt in the order of ranks before the loop begins,
so that their data goes with everything else that is scattered; then each rank that asks gets the next chunk.
Where work is known to be uneven, rules deal work (`dlbrt.chunks.scheduler`).

Law. The pool shrinks with every chunk, so it is empty after finitely many; a rank that asks then is told so,
and has ended. Rank 0 has ended when it has told all others. It waits only for requests, and the others only
for rank 0, so there is no cycle of waits.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import replace
from math import ceil, fsum, log, sqrt

from dlbrt.balance import actions, events
from dlbrt.balance.agent import BalancingCounts, Handlers, InitialState
from dlbrt.balance.messages import NO_FAILURE, ChunkRequest, PoolEmpty
from dlbrt.balance.peer import Peer
from dlbrt.chunks.rule import Rule, chunks_per_request
from dlbrt.chunks.scheduler import ChunkScheduler
from dlbrt.chunks.statistics import Basis, ChunkReport, LoopStatistics, RankStatistics, ScheduledLoop
from dlbrt.chunks.table import RULES
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.parameters import POOL_SLACK_UNITS

#: What replaces a rule as long as the statistics that its formula needs are not known.
FALLBACK_RULES = {"FSC": "mFSC", "FAC": "FAC2"}

#: A report of fewer units teaches nothing, nor does one of more units than any loop has.
_LEAST, _MOST = 1e-18, 1e18

#: A rank whose time to ask is farther off than this many answers does not ask yet.
_TOO_EARLY = 0.5


def rule_for(name: str, loop: ScheduledLoop) -> Rule:
    """The rule of that name, or its replacement while too little is known of the loop."""
    known = all(map(loop.known.has, RULES[name].needs))
    return RULES[name if known else FALLBACK_RULES[name]].make(loop)


def _rate(rank: int, record: RankStatistics) -> float:  # noqa: ARG001
    """Units a second."""
    return record.rate(Basis.COMPUTE)


class ChunkPool:
    """The units not yet dealt; ``first`` are the first chunks of all ranks."""

    def __init__(
        self, name: str, units: Units, ranks: int, work_table: WorkTable, known: LoopStatistics
    ) -> None:
        self._units = units
        self._start = units.all.runs[0].start if len(units) else 0
        known = known if not known.weights or len(known.weights) == ranks else replace(known, weights=())
        self.rule = rule_for(name, ScheduledLoop(len(units), ranks, known))
        table = shifted_work(work_table, self._start)
        self._scheduler = ChunkScheduler(self.rule, table if table.before(len(units)) else UNIFORM)
        self.first = tuple(self._next(rank) for rank in range(ranks))
        self.chunks = self.initial_chunks = sum(map(bool, self.first))
        self._going_on = set(range(1, ranks))
        self._rates: list[float] = []  # of the ranks going on, where known; ascending

    def deal(self, rank: int, below: int, unit_s: float) -> Spans:
        """The rank's next chunk of the units with a position before ``below``; empty: nothing is left.

        Where units take it only ``unit_s`` it gets several chunks (`chunks_per_request`). A slow rank gets
        nothing more if faster ranks will have done the rest before it has done a unit.
        """
        if self.rule.learns and self._is_better_left(rank):
            self._leave(rank)
            return EMPTY
        chunk = self._next(rank)
        count = chunks_per_request(len(chunk), self._scheduler.left, unit_s, self.rule.loop.ranks)
        for _ in range(count - 1):
            chunk = chunk.then(self._next(rank))
        chunk = chunk if below == NO_FAILURE else self._units.wanted(chunk, below)
        self.chunks += bool(chunk)
        return chunk

    @property
    def left(self) -> int:
        """Units not yet dealt."""
        return self._scheduler.left

    def report(self, rank: int, request: ChunkRequest) -> None:
        """Take in what a rank has done since its last request."""
        if self.rule.learns and _LEAST <= request.units <= _MOST:
            going_on = self._leave(rank)
            self._scheduler.seen.report(ChunkReport(rank, request.units, request.compute_s, request.total_s))
            if going_on:
                self._going_on.add(rank)
                if rate := self._rate(rank):
                    insort(self._rates, rate)

    def _rate(self, rank: int) -> float:
        """Units a second of computing; 0 where nothing was measured."""
        return self._scheduler.seen.records[rank].rate(Basis.COMPUTE)

    def _leave(self, rank: int) -> bool:
        """Remove the rank from the ranks that go on; whether it was one of them."""
        if rank not in self._going_on:
            return False
        self._going_on.remove(rank)
        if rate := self._rate(rank):
            del self._rates[bisect_left(self._rates, rate)]
        return True

    def _is_better_left(self, rank: int) -> bool:
        """Whether faster ranks that go on asking do the rest sooner than this rank does a unit.

        The fastest of the ranks that go on is never left out, and it is not rank 0, so that the rest gets
        done. The last of many ranks to finish a unit takes longer than the mean: by about ln P deviations, as
        if times were exponential.
        """
        records, left = self._scheduler.seen.records, self._scheduler.left
        own, rate = records[rank], self._rate(rank)
        spread = sqrt(own.variance) / own.mean_s if own.estimated else 0.0
        longest = 1 + spread * log(len(records))
        if not rate or left * rate > longest * self._scheduler.seen.total(_rate):
            return False
        faster = self._rates[bisect_right(self._rates, rate) :]
        return bool(faster) and (left + longest * len(faster)) / fsum(faster) < longest / rate

    def _next(self, rank: int) -> Spans:
        chunk = self._scheduler.deal(rank)
        return Spans((range(self._start + chunk.start, self._start + chunk.stop),)) if chunk else EMPTY


def units_per_quantum(units: Units, work_table: WorkTable) -> float:
    """How many units of mean cost a quantum of work is."""
    if work_table.uniform or not len(units):
        return 1.0
    first = units.all.runs[0].start
    return len(units) / max(1, work_table.before(first + len(units)) - work_table.before(first))


def shifted_work(work_table: WorkTable, start: int) -> WorkTable:
    """The table of the work from unit ``start`` on, with units numbered from there."""
    if start == 0 or work_table.uniform:
        return work_table
    begin = work_table.before(start)
    places = [place for place, edge in enumerate(work_table.edges) if edge > start]
    edges = (0, *(work_table.edges[place] - start for place in places))
    return WorkTable(edges, (0, *(work_table.prefix[place] - begin for place in places)))


class PoolPeer(Peer):
    """A rank that takes chunks by the rule of that name; rank 0 has the pool."""

    @classmethod
    def _table(cls) -> Handlers:
        return {**super()._table(), events.UnderWay: lambda *_: ()}

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:
        super().__init__(name, rank, start, now)
        ranks, table = len(start.shares), self.context.work_table
        self._pool = ChunkPool(name, self.units, ranks, table, start.known) if rank == 0 else None
        self._scale = units_per_quantum(self.units, table)
        self._requesters = set(range(1, ranks)) if rank == 0 else set()
        self.serves = (ChunkRequest,) if rank == 0 else ()
        self._requested_at: float | None = None
        self._answer_s = self.answer_s
        self._empty = False
        self._reported_at = now
        self._reported_units, self._reported_s, self._quantum_s = 0, 0.0, 0.0
        self._begin(now)

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`: whether a chunk is on its way, or others are still to be served."""
        return self._requested_at is not None or self._empty

    @property
    def finished(self) -> bool:
        """As `Agent.finished`: whether nothing is left here, and no rank is still to be told."""
        return self._empty and not self.work and not self._requesters

    @property
    def timer_at(self) -> float | None:
        """As `Agent.timer_at`: when this rank asks for its next chunk."""
        return self._request_at if self._requested_at is None and not self._empty and self.work else None

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`: chunks dealt by the pool, but for the first, count as synchronizations."""
        pool = self._pool
        return BalancingCounts() if pool is None else BalancingCounts(pool.chunks - pool.initial_chunks)

    def _begin(self, now: float) -> None:
        """Begin a chunk: set when to ask for the next one; None: when this one has run out.

        The time falls into the middle of the unit before the last ones, as a rank polls when a unit ends.
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
        """How long the work held will take, by what work took lately; 0: not known."""
        return self.context.work_table.of(self.work) * self._quantum_s

    def _worked(self, event: events.Worked) -> actions.Answer:
        """As `Peer._worked`; a rank that knows already that the pool is empty ends with its last unit."""
        answer = super()._worked(event)
        return (*answer, actions.Finish()) if self.finished else answer

    def _record_progress(self, did: Spans, event: events.Worked) -> None:
        quanta = self.context.work_table.of(did)
        self._quantum_s = event.compute_s / quanta if quanta else self._quantum_s
        self._reported_units += quanta
        self._reported_s += event.compute_s

    def _chunk_request(self, now: float) -> ChunkRequest:
        """A request, with a report of the work since the last one."""
        units, seconds = self._reported_units * self._scale, self._reported_s
        total_s = max(seconds, now - self._reported_at)
        self._reported_at, self._reported_units, self._reported_s = now, 0, 0.0
        return ChunkRequest(units, seconds, total_s, self.unit_s)

    def _exhausted(self, event: events.Exhausted) -> actions.Answer:
        if self._pool is None:
            return self._request_chunk(event.now)
        return self._take(event.now, self._pool)

    def _time_elapsed(self, event: events.TimeElapsed) -> actions.Answer:
        if not self.due(event.now):
            return ()
        self._begin(event.now)
        if self._request_at is not None and self._request_at > event.now + _TOO_EARLY * self._answer_s:
            return ()  # work has become more expensive, or this rank slower
        return self._request_chunk(event.now)

    def _request_chunk(self, now: float) -> actions.Answer:
        self._requested_at = now
        return (actions.Send((0,), self._chunk_request(now)),)

    def _take(self, now: float, pool: ChunkPool) -> actions.Answer:
        """Take a chunk for rank 0 itself."""
        pool.report(0, self._chunk_request(now))
        self.work = pool.deal(0, self.failed_at, self.unit_s)
        self._empty = not self.work
        return (actions.Resume() if self.work else actions.Finish(),)

    def _message_received(self, event: events.Received) -> actions.Answer:
        if isinstance(event.message, ChunkRequest) and self._pool is not None:
            return self._serve(event.source, event.message, self._pool)
        if isinstance(event.message, PoolEmpty) and self._requested_at is not None:
            self._requested_at, self._empty = None, True
            return () if self.work else (actions.Finish(),)
        raise ValueError(f"rank {self.rank} cannot take {event.message} of rank {event.source}")

    def _serve(self, rank: int, request: ChunkRequest, pool: ChunkPool) -> actions.Answer:
        pool.report(rank, request)
        if chunk := pool.deal(rank, self.failed_at, request.unit_s):
            return (actions.SendWork(rank, chunk),)
        self._requesters.discard(rank)
        return (actions.Send((rank,), PoolEmpty()),)

    def _work_received(self, event: events.WorkReceived) -> actions.Answer:
        if self._requested_at is None:
            raise ValueError(f"rank {self.rank} received units that it had not asked for")
        self._answer_s = max(event.now - self._requested_at, 0.9 * self._answer_s)
        self._requested_at = None
        self.work = self.work.then(self._wanted(event.units))
        self._begin(event.now)
        return (actions.Resume(),)
