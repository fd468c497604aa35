"""What balancing deals in: units, which are positions or folded pairs of them, and how much work they are.

Where iterations do not cost the same, shares are amounts of work, not counts. A work table holds prefix sums:
how many whole ticks of work precede each of its edges. Between two edges work grows evenly, rounded down.
Amounts are integers because every rank cuts for itself: the same numbers give the same cuts on machines whose
floating-point functions differ in the last digit.

Bitonic folding (Zaki, Li, Parthasarathy, section 1.5.3) joins the positions t and n-1-t of a loop whose pairs
cost the same while its iterations do not: the pair, with the data of both, is what is dealt, moved and
counted. Units are numbered from the outside in; of an odd number of positions the middle one is the last
unit, alone. A chunk of consecutive pairs is executed in two stretches, each in iteration order: its lower
positions, then their partners. So no pair is half done between chunks.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import Enum

from dlbrt.contract import MIN_PAIRS
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class WorkTable:
    """Ticks of work by unit; without edges every unit is one tick.

    ``edges`` are ascending unit numbers from 0 to the number of units; ``prefix[k]`` is the work before
    ``edges[k]``, non-decreasing. ValueError unless both have the same length, other than 1.
    """

    edges: tuple[int, ...] = ()
    prefix: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.prefix) or len(self.edges) == 1:
            raise ValueError(f"expected as many ticks as edges, found {len(self.prefix)}, {len(self.edges)}")

    @property
    def uniform(self) -> bool:
        """Whether all units are the same amount of work."""
        return not self.edges

    def before(self, unit: int) -> int:
        """The work of all units before this one, clipped to the ends of the table."""
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
        """The work of the first ``count`` units in execution order, of at least as many."""
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
        """How many of the first units come nearest to ``amount`` of work; on a tie, the fewer."""
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
        """The first units that are ``amount`` of work, to the nearest unit, and the rest."""
        return spans.first(self.count(spans, amount))

    def last(self, spans: Spans, amount: int) -> tuple[Spans, Spans]:
        """The rest, and the last units that are ``amount`` of work, to the nearest unit."""
        return self.first(spans, self.of(spans) - max(0, amount))

    def _of_run(self, run: range, count: int) -> int:
        """The work of the first ``count`` units of a run; of a strided run, its part of the work it spans."""
        work = self.before(run.start + count * run.step) - self.before(run.start)
        return work if run.step == 1 else work // run.step

    def _nearest(self, run: range, amount: int) -> int:
        """How many units of a run come nearest to an amount below the run's work; on a tie, the fewer."""
        prefix = self.before(run.start) + (amount + 1) * run.step - 1
        low = (self._reached(prefix) - run.start) // run.step
        over, under = self._of_run(run, low + 1) - amount, amount - self._of_run(run, low)
        return low + 1 if over < under else low

    def _reached(self, prefix: int) -> int:
        """The last unit with at most ``prefix`` ticks before it, the inverse of `before`.

        ``prefix`` is below the work of all units.
        """
        place = bisect_right(self.prefix, prefix)
        low, begin = self.edges[place - 1], self.prefix[place - 1]
        return low + ((prefix - begin + 1) * (self.edges[place] - low) - 1) // (self.prefix[place] - begin)


#: Every unit one tick.
UNIFORM = WorkTable()


class FoldingPolicy(Enum):
    """Whether iterations are dealt in pairs."""

    NONE = "never"
    WHERE_IT_PAYS = "where there are enough pairs for every rank"
    ALWAYS = "always"

    def folds(self, positions: int, ranks: int, *, in_long_runs: bool = False) -> bool:
        """Whether this many positions are dealt as pairs, which are executed in short stretches.

        ``in_long_runs``: the loop adds to private copies, which pay in long runs only.
        """
        if self is FoldingPolicy.WHERE_IT_PAYS:
            return not in_long_runs and -(-positions // 2) >= MIN_PAIRS * ranks
        return self is FoldingPolicy.ALWAYS


@dataclass(frozen=True, slots=True)
class Units:
    """Positions ``first`` to ``stop`` - 1 as units: each by itself, or ``folded``."""

    first: int
    stop: int
    folded: bool = False

    def __len__(self) -> int:
        positions = max(0, self.stop - self.first)
        return (positions + 1) // 2 if self.folded else positions

    @property
    def all(self) -> Spans:
        """Every unit."""
        start = 0 if self.folded else self.first
        return Spans.of(range(start, start + len(self)))

    def positions(self, units: Spans) -> Spans:
        """The positions of some units, by start."""
        if not self.folded:
            return units
        return Spans.of(*(part for run in units.runs for part in self.stretches(run)))

    def stretches(self, run: range) -> tuple[range, ...]:
        """The positions of a run of units, in execution order."""
        if not self.folded or not run:
            return (run,) if run else ()
        lower = range(self.first + run.start, self.first + run[-1] + 1, run.step)
        paired = run[:-1] if self.first + run[-1] == self.stop - 1 - run[-1] else run
        if not paired:
            return (lower,)
        return lower, range(self.stop - 1 - paired[-1], self.stop - paired[0], run.step)

    def wanted(self, units: Spans, below: int) -> Spans:
        """The units with a position before ``below``."""
        if not self.folded:
            return units.below(below)
        return units.below(below - self.first) if below > self.first else EMPTY
