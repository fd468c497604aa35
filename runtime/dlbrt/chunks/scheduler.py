"""A central scheduler of chunks: one rule's state in one place, for a master or a simulation.

Consecutive iterations are dealt from the first on. The state depends only on what callers report, so the same
requests and reports in the same order give the same chunks.

Work in place of counts. A rule's formulas presume iterations of one expected cost. Where the work W(i) of
iterations is known, the rule works in units of the mean cost: all work is n units, what is left R is the work
left, and a chunk of c units becomes the iterations whose work is nearest to c, at least one. Counts are the
case where every iteration is one unit, and give the same chunks. Then only the speeds of ranks are unknown,
and deviations of W from the truth.
"""

from __future__ import annotations

from dlbrt.chunks.rule import Pool, Rule, next_chunk
from dlbrt.chunks.statistics import Measurements
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, WorkTable


class WorkUnits:
    """The work of n iterations by a work table; ValueError if the table has no work for them."""

    def __init__(self, n: int, work_table: WorkTable = UNIFORM) -> None:
        self.n = n
        self._work_table = work_table
        self._uniform = work_table.uniform
        self._total = work_table.before(n)
        if n and self._total <= 0:
            raise ValueError(f"expected some work in {n} iterations, found none")

    def left(self, start: int) -> int:
        """The work from iteration ``start`` on, rounded up; at least 1 while there are iterations."""
        if self._uniform or start >= self.n:
            return self.n - start
        return max(1, -(-(self._total - self._work_table.before(start)) * self.n // self._total))

    def chunk(self, start: int, units: int) -> range:
        """The iterations from ``start`` on whose work is nearest to ``units``, at least one."""
        if units >= self.left(start):
            return range(start, self.n)
        if self._uniform:
            return range(start, start + units)
        rest = Spans((range(start, self.n),))
        return range(start, start + max(1, self._work_table.count(rest, units * self._total // self.n)))

    def placed(self, chunk: range) -> range:
        """The iterations of a chunk of a sequence, maybe none; each iteration is in one chunk."""
        return range(self._place(chunk.start), self._place(chunk.stop))

    def _place(self, unit: int) -> int:
        if self._uniform or unit >= self.n:
            return min(unit, self.n)
        return self._work_table.count(Spans((range(self.n),)), unit * self._total // self.n)


class ChunkScheduler:
    """Deals the iterations of the rule's loop, by work where ``work_table`` says what each costs.

    ``seen`` takes reports for rules that learn. ValueError if the table has no work for the loop's
    iterations.
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
        """The iterations of the rank's next chunk; none when all are dealt."""
        if not self.left:
            return range(self._start, self._start)
        units, batch = next_chunk(self.rule, self._pool, rank, self.seen)
        chunk = self._table.chunk(self._start, units)
        self._start = chunk.stop
        self._pool = Pool(self._table.left(self._start), self._pool.chunks + 1, batch)
        return chunk
