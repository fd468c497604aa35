"""What balancing deals in: the positions of a loop one by one, or folded into pairs.

Bitonic folding (Zaki, Li, Parthasarathy, section 1.5.3) joins the positions t and n-1-t of a loop whose pairs
cost the same while its iterations do not: dealt, moved and counted is the pair, with the data of both. Units
are numbered from the outside in; of an odd number of positions the middle one is the last unit, alone.

A chunk of consecutive pairs is executed in two stretches, each in iteration order: its lower positions, then
their partners. So whatever is done between chunks, no pair is half done.
"""

from __future__ import annotations

from enum import Enum

from dlbrt.contract import MIN_PAIRS
from dlbrt.dist.spans import EMPTY, Spans
from dlbrt.records import dataclass

__all__ = ["FoldingPolicy", "Units"]


class FoldingPolicy(Enum):
    """Whether iterations are dealt in pairs."""

    NONE = "never"
    WHERE_IT_PAYS = "where there are enough pairs for every rank"
    ALWAYS = "always"

    def folds(self, positions: int, ranks: int, *, in_long_runs: bool = False) -> bool:
        """Whether so many positions are dealt as pairs, whose iterations come in short stretches.

        ``in_long_runs``: private copies of what iterations contribute to are kept of long runs alone.
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
        """The positions of a run of units, in the order in which they are executed."""
        if not self.folded or not run:
            return (run,) if run else ()
        lower = range(self.first + run.start, self.first + run[-1] + 1, run.step)
        paired = run[:-1] if self.first + run[-1] == self.stop - 1 - run[-1] else run
        if not paired:
            return (lower,)
        return lower, range(self.stop - 1 - paired[-1], self.stop - paired[0], run.step)

    def wanted(self, units: Spans, below: int) -> Spans:
        """The units that have a position before ``below``."""
        if not self.folded:
            return units.below(below)
        return units.below(below - self.first) if below > self.first else EMPTY
