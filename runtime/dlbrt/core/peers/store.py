"""The pool of units that a self-scheduling rule deals from, in the order of units; it is at rank 0.

The first P chunks are dealt in the order of ranks before the loop begins, so that their data goes with
everything else that is scattered; whoever asks then gets the next one. Where work is known to be uneven rules
deal work (`dlbrt.core.chunks.work`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import replace
from math import fsum, log, sqrt

from dlbrt.core.chunks.dealer import ChunkScheduler
from dlbrt.core.chunks.loop import LoopStatistics, ScheduledLoop
from dlbrt.core.chunks.measured import Basis, ChunkReport, RankStatistics
from dlbrt.core.chunks.rule import Rule
from dlbrt.core.chunks.table import RULES
from dlbrt.core.chunks.together import chunks_per_request
from dlbrt.core.peers.words import ChunkRequest
from dlbrt.core.profile import NO_FAILURE
from dlbrt.dist.amounts import UNIFORM, WorkTable
from dlbrt.dist.spans import EMPTY, Spans
from dlbrt.dist.units import Units

__all__ = ["FALLBACK_RULES", "ChunkPool", "rule_for", "shifted_work", "units_per_quantum"]

#: What a rule is replaced by as long as what its formula needs of the loop is not known.
FALLBACK_RULES = {"FSC": "mFSC", "FAC": "FAC2"}

#: A report of less work than this teaches nothing, in units; of more than any loop has neither.
_LEAST, _MOST = 1e-18, 1e18


def rule_for(name: str, loop: ScheduledLoop) -> Rule:
    """The rule of that name, or the one that takes its place while too little is known of the loop."""
    needed = RULES[name].needs
    known = all(loop.known.has(fact) for fact in needed)
    return RULES[name if known else FALLBACK_RULES[name]].make(loop)


def _rate(rank: int, record: RankStatistics) -> float:  # noqa: ARG001
    """Units a second."""
    return record.rate(Basis.COMPUTE)


class ChunkPool:
    """What is left of ``units``; the first chunks of all ranks are ``first``."""

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
        self._rates: list[float] = []  # of those, where they are known; ascending

    def deal(self, rank: int, below: int, unit_s: float) -> Spans:
        """The rank's next chunk of what has a position before ``below``; empty: nothing is left.

        Where units take it no more than ``unit_s`` it gets several (`chunks_per_request`). A slow rank gets nothing more
        if faster ones will have done the rest before it has done a unit.
        """
        if self.rule.learns and self._is_better_left(rank):
            self._leave(rank)
            return EMPTY
        chunk = self._next(rank)
        for _ in range(
            chunks_per_request(len(chunk), self._scheduler.left, unit_s, self.rule.loop.ranks) - 1
        ):
            chunk = chunk.then(self._next(rank))
        chunk = chunk if below == NO_FAILURE else self._units.wanted(chunk, below)
        self.chunks += bool(chunk)
        return chunk

    @property
    def left(self) -> int:
        """Units not yet dealt."""
        return self._scheduler.left

    def report(self, rank: int, request: ChunkRequest) -> None:
        """A rank has done so much in that time."""
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
        """The rank is none of those that go on any more; whether it was one."""
        if rank not in self._going_on:
            return False
        self._going_on.remove(rank)
        if rate := self._rate(rank):
            del self._rates[bisect_left(self._rates, rate)]
        return True

    def _is_better_left(self, rank: int) -> bool:
        """Whether ranks that are faster, and go on asking, do the rest sooner.

        The fastest of those that go on is never left out, nor is it rank 0, so that somebody does it. The
        last of many to be done with a unit takes longer than the mean: by about ln P deviations, as if times
        were exponential.
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
    """How many units of mean cost a tick of work is."""
    if work_table.uniform or not len(units):
        return 1.0
    first = units.all.runs[0].start
    return len(units) / max(1, work_table.before(first + len(units)) - work_table.before(first))


def shifted_work(work_table: WorkTable, start: int) -> WorkTable:
    """The table of what comes from unit ``start`` on, with units numbered from there."""
    if start == 0 or work_table.uniform:
        return work_table
    begin = work_table.before(start)
    places = [place for place, edge in enumerate(work_table.edges) if edge > start]
    edges = (0, *(work_table.edges[place] - start for place in places))
    return WorkTable(edges, (0, *(work_table.prefix[place] - begin for place in places)))
