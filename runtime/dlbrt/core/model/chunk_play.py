"""Self-scheduling played chunk by chunk: a heap of requests, by when they come to rank 0 or to the counter.

What `dlbrt.core.peers.pooled` and `claiming` do, on the path of each rank's speed. Rank 0 looks for requests
between its iterations, and these are played: a rank that is served when one ends, and asks again shortly
after the next has begun, waits for nearly all of it, not for half. A rank asks ahead by as many whole
iterations as last as long as the last answer did, which it is taken to know. Near the end rank 0 leaves dear
iterations to the others, and so do slow ranks where faster ones will have done the rest first.

Chunks are in units of the mean iteration, as rules deal them where W(i) is known (`grains`). Of more chunks
than `MOST_CHUNKS` the first ones are a fluid: each rank computes the part c / (c + wait) of its time, and
rank 0's link is a bound; the last ones, which decide how even the end is, are played.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import ceil

from dlbrt.core.chunks.measured import Measurements, Report
from dlbrt.core.chunks.rule import Pool, Rule, asked
from dlbrt.core.chunks.sequence import Sequence as Chunks
from dlbrt.core.chunks.together import at_once
from dlbrt.core.model.desk import NEAR, Desk
from dlbrt.core.model.fluid import Rest, floor_s
from dlbrt.core.model.speed import Processor
from dlbrt.core.peers.pooled import BEYOND, DEAR, LAST
from dlbrt.records import dataclass

__all__ = ["MOST_CHUNKS", "ChunkPlay"]

#: Chunks that are played one by one.
MOST_CHUNKS = 2_000


@dataclass(slots=True)
class _Rank:
    """A rank's chunk from ``begin_s`` to ``end_s``, in iterations of ``each_s``; and all of it so far.

    ``units`` and ``busy_s`` are those at the end of the chunk, ``told_*`` what its last request has said.
    """

    processor: Processor
    begin_s: float = 0.0
    end_s: float = 0.0
    each_s: float = 0.0
    grain: float = 1.0
    units: float = 0.0
    busy_s: float = 0.0
    answer_s: float = 0.0
    told_units: float = 0.0
    told_busy_s: float = 0.0
    told_s: float = 0.0

    def looks_s(self, when: float) -> float:
        """When it looks around, if something is to be seen from ``when`` on: between its iterations."""
        if when >= self.end_s or when <= self.begin_s:
            return when
        return self.begin_s + ceil((when - self.begin_s) / self.each_s - NEAR) * self.each_s

    def compute(self, begin_s: float, units: float, count: int, unit_s: float) -> None:
        """Do a chunk of so many iterations from then on."""
        end_s = self.processor.finish(begin_s, units * unit_s)
        self.begin_s, self.end_s = begin_s, end_s
        self.each_s, self.grain = (end_s - begin_s) / count, units / count
        self.units += units
        self.busy_s += end_s - begin_s

    def said(self, now: float) -> tuple[float, float, float]:
        """Units, seconds computing and seconds in all since the last request."""
        ahead_s = max(0.0, self.end_s - now)
        units = self.units - (ahead_s / self.each_s * self.grain if ahead_s else 0.0)
        busy_s = self.busy_s - ahead_s
        found = units - self.told_units, busy_s - self.told_busy_s, now - self.told_s
        self.told_units, self.told_busy_s, self.told_s = units, busy_s, now
        return found


class ChunkPlay:
    """One loop, chunk by chunk: a heap of requests by when they come to rank 0."""

    def __init__(
        self,
        rule: Rule,
        rest: Rest,
        grains: Sequence[float],
        desk: Desk,
        processors: Sequence[Processor],
        dealt: bool,
    ) -> None:
        self.rule, self.unit_s, self.grains, self.desk = rule, rest.mean_s, grains, desk
        self.pool, self.seen = Pool(rule.loop.n), Measurements(len(processors))
        self.ranks = [_Rank(processor) for processor in processors]
        self.link_s = self.lost_s = 0.0
        self.left = float(rule.loop.n)
        self.asks: list[tuple[float, int]] = []
        #: No iteration of mean cost takes less.
        self.least_s = rest.mean_s / max(each.speed for each in processors)
        self._begin(dealt)

    def total_s(self) -> float:
        """When the last rank has nothing left to do, and knows it."""
        while self.pool.left and self.asks:
            self._take(*heappop(self.asks))
        if self.pool.left:  # nobody else wants the rest
            self.ranks[0].compute(self.ranks[0].end_s, self.left, self.pool.left, self.unit_s)
        told_s = [
            self._served_s(when) + self.desk.way_s for when, rank in self.asks if rank or self.desk.claims
        ]
        self.ranks[0].end_s += self.lost_s
        return max([each.end_s for each in self.ranks] + told_s)

    def _begin(self, dealt: bool) -> None:
        """The first requests, or the first chunks; a body of very many chunks is past."""
        chunks, played = self.rule.sequence(), max(MOST_CHUNKS, 4 * len(self.ranks))
        if chunks is not None and len(chunks) > played:
            self._pass_body(chunks, len(chunks) - played // 2)
        for rank, each in enumerate(self.ranks):
            if dealt and self.pool.left and self.pool.chunks == rank:
                each.compute(0.0, *self._chunk(rank), self.unit_s)
            self._ask(rank, each.end_s)

    def _pass_body(self, chunks: Chunks, count: int) -> None:
        """The first so many chunks as a fluid."""
        units, processors = chunks.start(count), [each.processor for each in self.ranks]
        number = sum(units / len(self.grains) / max(units / count, grain) for grain in self.grains)
        size = units / number
        together = at_once(max(1, int(size)), units, self._mean_s(), len(self.ranks))
        size, number = size * together, number / together
        takes = [size * self.unit_s / processor.average(0.0, 0.0) for processor in processors]
        parts = [
            took / (took + self.desk.wait_s(size, took)) if (rank or self.desk.claims) and took > 0 else 1.0
            for rank, took in enumerate(takes)
        ]
        bound_s = self.desk.least_s(number, size, takes[0])
        self.link_s = max(floor_s(processors, units * self.unit_s, parts), bound_s)
        for rank, (each, took) in enumerate(zip(self.ranks, takes, strict=True)):
            each.end_s = self.link_s + took * rank / len(takes)
        self.pool = Pool(self.rule.loop.n - units, count)
        self.left = float(self.pool.left)

    def _mean_s(self) -> float:
        """An iteration of mean cost on a rank of mean speed."""
        return self.unit_s * len(self.ranks) / sum(each.processor.average(0.0, 0.0) for each in self.ranks)

    def _ask(self, rank: int, when: float) -> None:
        """A rank asks for its next chunk at that time; rank 0 just takes it from its pool."""
        heappush(self.asks, (when + self.desk.way_s if rank or self.desk.claims else when, rank))

    def _take(self, when: float, rank: int) -> None:
        """A request has come: the rank gets a chunk, and asks for the next one in time."""
        each, asked_s = self.ranks[rank], when - self.desk.way_s if rank else when
        if self.rule.learns:
            self._report(rank, *each.said(asked_s))
        if self.desk.claims:
            each.compute(when + self.desk.way_s, *self._chunks(rank), self.unit_s)
            return self._ask(rank, each.end_s)
        if rank == 0:
            return self._take_own(when)
        if self._better_left(rank):
            return None
        units, count = self._chunks(rank)
        self.lost_s += self.desk.serves_s
        self.link_s = max(self._served_s(when), self.link_s) + self.desk.link_s(count)
        has_s = each.looks_s(self.link_s) if self.desk.each_s else self.link_s
        each.answer_s = max(has_s - asked_s, 0.9 * each.answer_s)
        each.compute(max(has_s, each.end_s), units, count, self.unit_s)
        return self._ask(rank, self._asks_s(each, has_s))

    def _take_own(self, when: float) -> None:
        """Rank 0 takes a chunk itself; near the end of dear iterations it leaves them to the others."""
        each = self.ranks[0]
        dear = each.busy_s > DEAR * self.desk.answer_s * each.units
        if self.asks and dear and self.pool.left <= LAST * len(self.ranks):
            return
        each.compute(when + self.lost_s, *self._chunks(0), self.unit_s)
        self.lost_s = 0.0
        self._ask(0, each.end_s)

    def _better_left(self, rank: int) -> bool:
        """Whether faster ranks, but for rank 0, will have done the rest before this one has done a unit."""
        each = self.ranks[rank]
        if not each.busy_s or self.left > len(self.ranks) * each.busy_s / each.units / self.least_s:
            return False
        rates = [other.units / other.busy_s for other in self.ranks[1:] if other.busy_s]
        own = each.units / each.busy_s
        faster = [rate for rate in rates if rate > own]
        return bool(faster) and (self.left + len(faster)) / sum(faster) < 1 / own

    def _chunks(self, rank: int) -> tuple[float, int]:
        """What a rank gets, in units of mean cost and in iterations: short chunks several at once."""
        units, count = self._chunk(rank)
        each = self.ranks[rank]
        if each.busy_s:
            unit_s = each.busy_s / each.units
            for _ in range(at_once(count, self.pool.left, unit_s, len(self.ranks)) - 1):
                more, number = self._chunk(rank)
                units, count = units + more, count + number
        return units, count

    def _chunk(self, rank: int) -> tuple[float, int]:
        """The next chunk of the rule; of the pool goes what it is."""
        size, batch = asked(self.rule, self.pool, rank, self.seen)
        left, chunks = self.pool.left, self.pool.chunks + 1
        if len(self.grains) == 1:
            self.pool = Pool(left - size, chunks, batch)
            self.left = float(self.pool.left)
            return size, size
        part = int((1 - self.left / self.rule.loop.n) * len(self.grains))
        grain = self.grains[min(part, len(self.grains) - 1)]
        wanted = self.left - left + size if self.desk.claims else size  # numbers say where chunks end
        count = max(1, int(wanted / grain + 0.5))
        units = min(self.left, count * grain)
        if self.desk.claims and left == size:
            units = self.left
        self.left = max(0.0, self.left - units)
        after = left - size if self.desk.claims else ceil(self.left - NEAR * self.rule.loop.n)
        self.pool = Pool(after if self.left else 0, chunks, batch)
        return units, count

    def _asks_s(self, each: _Rank, has_s: float) -> float:
        """When a rank asks for more that has had a chunk since ``has_s``."""
        ahead_s = each.answer_s
        if self.desk.each_s:
            ahead_s = max(1, ceil(ahead_s / each.each_s - BEYOND)) * each.each_s
        return min(each.end_s, max(has_s, each.end_s - ahead_s))

    def _served_s(self, when: float) -> float:
        """When rank 0 looks."""
        return self.ranks[0].looks_s(when) if self.desk.each_s else when

    def _report(self, rank: int, units: float, compute_s: float, total_s: float) -> None:
        """What was done since the last request, if it teaches anything."""
        if units > NEAR:
            self.seen.report(Report(rank, units, compute_s, max(compute_s, total_s)))
