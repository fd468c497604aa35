"""A central dealer of chunks: one rule's state in one place, for a master or a simulation.

Consecutive iterations are dealt from the first on. Nothing is read but what callers tell, so the same
requests and reports in the same order give the same chunks.
"""

from __future__ import annotations

from dlbrt.chunks.rule import Pool, Rule, next_chunk
from dlbrt.chunks.statistics import ChunkReport, Measurements
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, WorkTable

# ------------------------------------------------------------------------------
# Chunks of work in place of counts, for loops whose iterations are known to cost unequally.
#
# A rule's formulas presume iterations of one expected cost. Where W(i) is known, the rule is asked in units
# of the mean cost: all work is n of them, what is left R is the work left, and a chunk of c units becomes the
# iterations whose work is nearest to c, one at least. Counts are the case where every iteration is one unit,
# and give the same chunks. What is unknown then are the speeds of ranks alone, and deviations of W from the
# truth.


class WorkUnits:
    """The work of n iterations by a table of it; ValueError if the table has no work for them."""

    def __init__(self, n: int, work_table: WorkTable = UNIFORM) -> None:
        self.n = n
        self._work_table = work_table
        self._uniform = work_table.uniform
        self._total = work_table.before(n)
        if n and self._total <= 0:
            raise ValueError(f"expected some work in {n} iterations, found none")

    def units(self, run: range) -> float:
        """The work of consecutive iterations, in mean iterations."""
        if self._uniform:
            return float(len(run))
        return (self._work_table.before(run.stop) - self._work_table.before(run.start)) * self.n / self._total

    def left(self, start: int) -> int:
        """The work from iteration ``start`` on, rounded up; 1 at least while there are iterations."""
        if self._uniform or start >= self.n:
            return self.n - start
        return max(1, -(-(self._total - self._work_table.before(start)) * self.n // self._total))

    def chunk(self, start: int, units: int) -> range:
        """The iterations from ``start`` on that are ``units`` of work, to the nearest; one or more."""
        if units >= self.left(start):
            return range(start, self.n)
        if self._uniform:
            return range(start, start + units)
        rest = Spans((range(start, self.n),))
        return range(start, start + max(1, self._work_table.count(rest, units * self._total // self.n)))

    def placed(self, chunk: range) -> range:
        """The iterations of a chunk of a sequence, maybe none; all chunks have all of them, each once."""
        return range(self._place(chunk.start), self._place(chunk.stop))

    def _place(self, unit: int) -> int:
        if self._uniform or unit >= self.n:
            return min(unit, self.n)
        return self._work_table.count(Spans((range(self.n),)), unit * self._total // self.n)


# ------------------------------------------------------------------------------


class ChunkScheduler:
    """Deals the iterations of the rule's loop, by work where ``work_table`` says what each costs.

    ValueError if the amounts hold no work for the loop's iterations.
    """

    def __init__(self, rule: Rule, work_table: WorkTable = UNIFORM) -> None:
        self.rule = rule
        self.seen = Measurements(rule.loop.ranks)
        self._table = WorkUnits(rule.loop.n, work_table)
        self._pool = Pool(rule.loop.n)
        self._start = 0

    @property
    def left(self) -> int:
        """Iterations not yet dealt."""
        return self.rule.loop.n - self._start

    def deal(self, rank: int) -> range:
        """The iterations of the rank's next chunk; none once all are dealt."""
        if not self.left:
            return range(self._start, self._start)
        units, batch = next_chunk(self.rule, self._pool, rank, self.seen)
        chunk = self._table.chunk(self._start, units)
        self._start = chunk.stop
        self._pool = Pool(self._table.left(self._start), self._pool.chunks + 1, batch)
        return chunk

    def done(self, rank: int, chunk: range, compute_s: float, total_s: float) -> None:
        """The rank has done a chunk in so many seconds; ValueError for times that are none.

        Rules that do not learn are spared it; a chunk of iterations that cost nothing teaches nothing.
        """
        units = self._table.units(chunk) if self.rule.learns else 0.0
        if units > 0:
            self.seen.report(ChunkReport(rank, units, compute_s, total_s))
