"""How much work there is in a set of units: one each, or by a table of cumulative work.

Where iterations do not cost the same, shares are amounts of work, not counts. Amounts are whole ticks, of
which a table says how many precede each of its edges; between two edges they grow evenly, rounded down.
Integers because every rank cuts for itself: the same numbers give the same cuts on machines whose
floating-point functions differ in the last digit.
"""

from __future__ import annotations

from bisect import bisect_right

from dlbrt.dist.spans import Spans
from dlbrt.records import dataclass

__all__ = ["UNIFORM", "WorkTable"]


@dataclass(frozen=True, slots=True)
class WorkTable:
    """Ticks of work by unit; without a table every unit is one tick.

    ``edges`` are unit numbers, ascending, from 0 to the number of units; ``prefix[k]`` is the work before
    ``edges[k]``, not decreasing. ValueError unless both are of one length, not 1.
    """

    edges: tuple[int, ...] = ()
    prefix: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.prefix) or len(self.edges) == 1:
            raise ValueError(f"expected as many ticks as edges, found {len(self.prefix)}, {len(self.edges)}")

    @property
    def uniform(self) -> bool:
        """Whether every unit is as much as any other."""
        return not self.edges

    def before(self, unit: int) -> int:
        """The work of all units before this one; the ends of the table bound it."""
        if not self.edges:
            return unit
        place = bisect_right(self.edges, unit)
        if not 0 < place < len(self.edges):
            return self.prefix[-1 if place else 0]
        low, prefix = self.edges[place - 1], self.prefix[place - 1]
        return prefix + (self.prefix[place] - prefix) * (unit - low) // (self.edges[place] - low)

    def of(self, spans: Spans) -> int:
        """The work of all units of ``spans``."""
        return sum([self._of_run(run, len(run)) for run in spans.runs]) if self.edges else len(spans)

    def of_first(self, spans: Spans, count: int) -> int:
        """The work of the first ``count`` units in execution order, which has so many."""
        if not self.edges:
            return count
        work = 0
        for run in spans.runs:
            if count <= 0:
                break
            work += self._of_run(run, min(count, len(run)))
            count -= len(run)
        return work

    def count(self, spans: Spans, amount: int) -> int:
        """How many of the first units come nearest to ``amount``, no more than all; the fewer of equals."""
        if not self.edges:
            return amount
        count = 0
        for run in spans.runs if amount > 0 else ():
            work = self._of_run(run, len(run))
            if amount < work:
                return count + self._nearest(run, amount)
            amount -= work
            count += len(run)
        return count

    def first(self, spans: Spans, amount: int) -> tuple[Spans, Spans]:
        """The first units in execution order that are ``amount`` of work, to the nearest unit; the rest."""
        return spans.first(self.count(spans, amount))

    def last(self, spans: Spans, amount: int) -> tuple[Spans, Spans]:
        """The rest, and the last units that are ``amount`` of work, to the nearest unit."""
        return self.first(spans, self.of(spans) - max(0, amount))

    def _of_run(self, run: range, count: int) -> int:
        """The work of the first ``count`` units of a run; of dealt ones, their part of the work between."""
        work = self.before(run.start + count * run.step) - self.before(run.start)
        return work if run.step == 1 else work // run.step

    def _nearest(self, run: range, amount: int) -> int:
        """How many units of a run come nearest to an amount below that of the run; the fewer of equals."""
        prefix = self.before(run.start) + (amount + 1) * run.step - 1
        low = (self._reached(prefix) - run.start) // run.step
        over, under = self._of_run(run, low + 1) - amount, amount - self._of_run(run, low)
        return low + 1 if over < under else low

    def _reached(self, prefix: int) -> int:
        """The last unit before which there are at most so many ticks: `before` the other way round.

        ``prefix`` is below the work of all units.
        """
        place = bisect_right(self.prefix, prefix)
        low, begin = self.edges[place - 1], self.prefix[place - 1]
        return low + ((prefix - begin + 1) * (self.edges[place] - low) - 1) // (self.prefix[place] - begin)


#: Every unit one tick.
UNIFORM = WorkTable()
