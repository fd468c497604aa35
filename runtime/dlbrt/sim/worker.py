"""Where a rank is in its work, computed on demand: no event happens at each iteration. And the event queue.

A rank polls for messages only between chunks of about `CHUNK_S` or one unit, whichever is longer (as in
`dlbrt.mpi.walk`). The chunk that it is in at any time follows from when it began and how its speed changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

from dlbrt.data.spans import EMPTY, Spans
from dlbrt.parameters import CHUNK_S
from dlbrt.sim.machine import LoadedProcessor, UnitCosts


class SimulatedWorker:
    """The computing of one rank: ``units`` units, in ``spans``, from ``begin_s`` to ``end_s``."""

    __slots__ = ("_begun_s", "_chunk", "_costs", "_known", "_processor", "_stopped", "_stopped_s",
                 "begin_s", "busy", "compute_s", "end_s", "parts", "spans", "units", "version")  # fmt: skip

    def __init__(self, processor: LoadedProcessor, costs: UnitCosts) -> None:
        self.busy = False
        self.version = 0
        self.compute_s = 0.0
        self.parts: list[range] = []
        self.begin_s = self.end_s = 0.0
        self.spans = EMPTY
        self.units = 0
        self._processor, self._costs = processor, costs
        self._chunk = 1
        self._begun_s = 0.0  # the computing that was done when this stretch began
        self._known = 0, 0.0  # a number of units of this stretch, and when they are done
        self._stopped, self._stopped_s = 0, -1.0  # after how many units the last stretch stopped, and when

    def start(self, now: float, spans: Spans) -> None:
        """Begin to compute ``spans``; the rest of a stretch stopped just now ends when it would have."""
        self.busy = True
        self.version += 1
        goes_on = self._stopped_s == now and spans == self.spans.part(self._stopped)
        self.begin_s, self.spans, self.units = now, spans, len(spans)
        self._begun_s = self._processor.done(now)
        self.end_s = max(now, self.end_s) if goes_on else self._when(self._costs.of(spans))
        self._known = self.units, self.end_s
        each_s = (self.end_s - now) / self.units
        self._chunk = max(1, int(CHUNK_S / each_s)) if each_s > 0 else self.units

    def next_poll(self, now: float) -> tuple[float, int]:
        """When the rank next polls for messages, now or later, and how many units are done then."""
        if now <= self.begin_s:
            return self.begin_s, 0
        count = self._costs.within(self.spans, self._processor.done(now) - self._begun_s)
        if self.after(count) < now - 1e-12 * now:
            count += 1
        count = min(self.units, -(-count // self._chunk) * self._chunk)
        return max(now, self.after(count)), count

    def after(self, count: int) -> float:
        """When the first ``count`` units are done."""
        if count != self._known[0]:
            if count == self.units:
                return self.end_s
            self._known = count, self._when(self._costs.of_first(self.spans, count))
        return self._known[1]

    def split(self, now: float) -> tuple[int, float]:
        """Go on with the unit under way, apart from those done before; their number, and their seconds."""
        count = min(self.units - 1, self._costs.within(self.spans, self._processor.done(now) - self._begun_s))
        if count <= 0:
            return 0, 0.0
        begin_s, end_s = self.after(count), self.end_s
        took_s = begin_s - self.begin_s
        self.parts += self.spans.part(0, count).runs
        self.compute_s += took_s
        self.begin_s, self._begun_s = begin_s, self._processor.done(begin_s)
        self.spans, self.units = self.spans.part(count), self.units - count
        self._known = self.units, end_s
        self.version += 1
        return count, took_s

    def change(self, spans: Spans) -> None:
        """Go on with these units; the one under way is the first of them."""
        self.spans, self.units = spans, len(spans)
        self.end_s = self._when(self._costs.of(spans))
        self._known = self.units, self.end_s
        self.version += 1

    def stop(self, count: int, pieces: int) -> tuple[tuple[int, float], ...]:
        """Stop after ``count`` units; pairs of units done and seconds taken, at about ``pieces`` times."""
        self.busy = False
        self.version += 1
        self._stopped = count
        if not count:
            self._stopped_s = self.begin_s
            return ()
        self._stopped_s = self.after(count)
        took_s = self._stopped_s - self.begin_s
        self.parts += (self.spans if count == self.units else self.spans.part(0, count)).runs
        self.compute_s += took_s
        if pieces == 1:
            return ((count, took_s),)
        return tuple((mark, self.after(mark) - self.begin_s) for mark in self._marks(count, pieces))

    def _marks(self, count: int, pieces: int) -> list[int]:
        """Numbers of units up to ``count``, ascending, that are done by ``pieces`` times evenly apart."""
        if count < 2:
            return [count]
        begin, end_s = self._begun_s, self.after(count)
        step_s = (end_s - self.begin_s) / pieces
        inner = (self._processor.done(self.begin_s + k * step_s) - begin for k in range(1, pieces))
        found = {self._costs.within(self.spans, done_s) for done_s in inner}
        return sorted({count} | {mark for mark in found if 0 < mark < count})

    def _when(self, computing_s: float) -> float:
        if computing_s <= 0:
            return self.begin_s
        return max(self.begin_s, self._processor.when(self._begun_s + computing_s))


# Future steps, ordered by time, then priority, then sequence number. The sequence number makes the order
# total, so that the same input gives the same trace (as in SimPy).

#: A step, called with its time.
EventCallback = Callable[[float], None]


class EventQueue:
    """The steps to come, earliest first."""

    def __init__(self) -> None:
        self._steps: list[tuple[float, int, int, EventCallback]] = []
        self._order = itertools.count()

    def schedule(self, when: float, priority: int, step: EventCallback) -> None:
        """Take ``step`` at the time ``when``; at one time, the lowest priority number comes first."""
        heappush(self._steps, (when, priority, next(self._order), step))

    def run(self, until: float = inf) -> int:
        """Take steps ``until`` a time, or until none is left; the number of steps."""
        steps, taken = self._steps, 0
        while steps and steps[0][0] <= until:
            now, _, _, step = heappop(steps)
            step(now)
            taken += 1
        return taken
