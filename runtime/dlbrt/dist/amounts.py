"""How much work there is in a set of units: one each, or by a table of cumulative work.

Where iterations do not cost the same, shares are amounts of work, not counts. Amounts are whole ticks, of which
a table says how many precede each of its edges; between two edges they grow evenly, rounded down. Integers
because every rank cuts for itself: the same numbers give the same cuts on machines whose floating-point
functions differ in the last digit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from dlbrt.dist.spans import EMPTY, Spans

__all__ = ["UNIFORM", "Amounts"]


@dataclass(frozen=True, slots=True)
class Amounts:
    """Ticks of work by unit; without a table every unit is one tick.

    ``edges`` are unit numbers, ascending, from 0 to the number of units; ``ticks[k]`` is the work before
    ``edges[k]``, not decreasing. ValueError unless both are of one length, not 1.
    """

    edges: tuple[int, ...] = ()
    ticks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.ticks) or len(self.edges) == 1:
            raise ValueError(f"expected as many ticks as edges, found {len(self.ticks)}, {len(self.edges)}")

    @property
    def uniform(self) -> bool:
        """Whether every unit is as much as any other."""
        return not self.edges

    def before(self, unit: int) -> int:
        """The work of all units before this one; the ends of the table bound it."""
        if self.uniform:
            return unit
        place = min(max(bisect_right(self.edges, unit) - 1, 0), len(self.edges) - 2)
        low, high = self.edges[place : place + 2]
        inside = min(max(unit, low), high) - low
        return self.ticks[place] + (self.ticks[place + 1] - self.ticks[place]) * inside // (high - low)

    def of(self, spans: Spans) -> int:
        """The work of all units of ``spans``."""
        return len(spans) if self.uniform else sum(self._of_first(run, len(run)) for run in spans.runs)

    def first(self, spans: Spans, amount: int) -> tuple[Spans, Spans]:
        """The first units in execution order that are ``amount`` of work, to the nearest unit; the rest."""
        if self.uniform:
            return spans.first(amount)
        if amount <= 0:
            return EMPTY, spans
        count = 0
        for run in spans.runs:
            work = self._of_first(run, len(run))
            if amount < work:
                return spans.first(count + self._nearest(run, amount))
            amount -= work
            count += len(run)
        return spans, EMPTY

    def last(self, spans: Spans, amount: int) -> tuple[Spans, Spans]:
        """The rest, and the last units that are ``amount`` of work, to the nearest unit."""
        if self.uniform:
            return spans.last(amount)
        return self.first(spans, self.of(spans) - max(0, amount))

    def _of_first(self, run: range, count: int) -> int:
        """The work of the first ``count`` units of a run; of dealt ones, their part of the work between."""
        work = self.before(run.start + count * run.step) - self.before(run.start)
        return work if run.step == 1 else work // run.step

    def _nearest(self, run: range, amount: int) -> int:
        """How many units of a run come nearest to an amount below that of the run; the fewer of equals."""
        low, high = 0, len(run)
        while high - low > 1:
            middle = (low + high) // 2
            if self._of_first(run, middle) <= amount:
                low = middle
            else:
                high = middle
        over, under = self._of_first(run, high) - amount, amount - self._of_first(run, low)
        return high if over < under else low


#: Every unit one tick.
UNIFORM = Amounts()
