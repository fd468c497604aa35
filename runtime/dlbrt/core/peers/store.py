"""The pool of units that a self-scheduling rule deals from, in the order of units; it is at rank 0.

The first P chunks are dealt in the order of ranks before the loop begins, so that their data goes with
everything else that is scattered; whoever asks then gets the next one. Where work is known to be uneven rules
deal work (`dlbrt.core.chunks.work`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import replace
from math import fsum, log, sqrt

from dlbrt.core.chunks.dealer import Dealer
from dlbrt.core.chunks.loop import Known, Loop
from dlbrt.core.chunks.measured import Basis, Record, Report
from dlbrt.core.chunks.rule import Rule
from dlbrt.core.chunks.table import RULES
from dlbrt.core.chunks.together import at_once
from dlbrt.core.peers.words import Want
from dlbrt.core.profile import NO_FAILURE
from dlbrt.dist.amounts import UNIFORM, Amounts
from dlbrt.dist.spans import EMPTY, Spans
from dlbrt.dist.units import Units

__all__ = ["INSTEAD", "Store", "rule_for", "shifted_amounts", "units_a_tick"]

#: What a rule is replaced by as long as what its formula needs of the loop is not known.
INSTEAD = {"FSC": "mFSC", "FAC": "FAC2"}

#: A report of less work than this teaches nothing, in units; of more than any loop has neither.
_LEAST, _MOST = 1e-18, 1e18


def rule_for(name: str, loop: Loop) -> Rule:
    """The rule of that name, or the one that takes its place while too little is known of the loop."""
    needed = RULES[name].needs
    known = all(loop.known.has(fact) for fact in needed)
    return RULES[name if known else INSTEAD[name]].make(loop)


def _rate(rank: int, record: Record) -> float:  # noqa: ARG001
    """Units a second."""
    return record.rate(Basis.COMPUTE)


class Store:
    """What is left of ``units``; the first chunks of all ranks are ``first``."""

    def __init__(self, name: str, units: Units, ranks: int, amounts: Amounts, known: Known) -> None:
        self._units = units
        self._start = units.all.runs[0].start if len(units) else 0
        known = known if not known.weights or len(known.weights) == ranks else replace(known, weights=())
        self.rule = rule_for(name, Loop(len(units), ranks, known))
        table = shifted_amounts(amounts, self._start)
        self._dealer = Dealer(self.rule, table if table.before(len(units)) else UNIFORM)
        self.first = tuple(self._next(rank) for rank in range(ranks))
        self.chunks = self.dealt_first = sum(map(bool, self.first))
        self._going_on = set(range(1, ranks))
        self._rates: list[float] = []  # of those, where they are known; ascending

    def deal(self, rank: int, below: int, unit_s: float) -> Spans:
        """The rank's next chunk of what has a position before ``below``; empty: nothing is left.

        Where units take it no more than ``unit_s`` it gets several (`at_once`). A slow rank gets nothing more
        if faster ones will have done the rest before it has done a unit.
        """
        if self.rule.learns and self._is_better_left(rank):
            self._leave(rank)
            return EMPTY
        chunk = self._next(rank)
        for _ in range(at_once(len(chunk), self._dealer.left, unit_s, self.rule.loop.ranks) - 1):
            chunk = chunk.then(self._next(rank))
        chunk = chunk if below == NO_FAILURE else self._units.wanted(chunk, below)
        self.chunks += bool(chunk)
        return chunk

    @property
    def left(self) -> int:
        """Units not yet dealt."""
        return self._dealer.left

    def report(self, rank: int, said: Want) -> None:
        """A rank has done so much in that time."""
        if self.rule.learns and _LEAST <= said.units <= _MOST:
            going_on = self._leave(rank)
            self._dealer.seen.report(Report(rank, said.units, said.compute_s, said.total_s))
            if going_on:
                self._going_on.add(rank)
                if rate := self._rate(rank):
                    insort(self._rates, rate)

    def _rate(self, rank: int) -> float:
        """Units a second of computing; 0 where nothing was measured."""
        return self._dealer.seen.records[rank].rate(Basis.COMPUTE)

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
        records, left = self._dealer.seen.records, self._dealer.left
        own, rate = records[rank], self._rate(rank)
        spread = sqrt(own.variance) / own.mean_s if own.estimated else 0.0
        longest = 1 + spread * log(len(records))
        if not rate or left * rate > longest * self._dealer.seen.total(_rate):
            return False
        faster = self._rates[bisect_right(self._rates, rate) :]
        return bool(faster) and (left + longest * len(faster)) / fsum(faster) < longest / rate

    def _next(self, rank: int) -> Spans:
        chunk = self._dealer.deal(rank)
        return Spans((range(self._start + chunk.start, self._start + chunk.stop),)) if chunk else EMPTY


def units_a_tick(units: Units, amounts: Amounts) -> float:
    """How many units of mean cost a tick of work is."""
    if amounts.uniform or not len(units):
        return 1.0
    first = units.all.runs[0].start
    return len(units) / max(1, amounts.before(first + len(units)) - amounts.before(first))


def shifted_amounts(amounts: Amounts, start: int) -> Amounts:
    """The table of what comes from unit ``start`` on, with units numbered from there."""
    if start == 0 or amounts.uniform:
        return amounts
    begin = amounts.before(start)
    places = [place for place, edge in enumerate(amounts.edges) if edge > start]
    edges = (0, *(amounts.edges[place] - start for place in places))
    return Amounts(edges, (0, *(amounts.ticks[place] - begin for place in places)))
