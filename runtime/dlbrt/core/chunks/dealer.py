"""A central dealer of chunks: one rule's state in one place, for a master or a simulation.

Consecutive iterations are dealt from the first on. Nothing is read but what callers tell, so the same
requests and reports in the same order give the same chunks.
"""

from __future__ import annotations

from dlbrt.core.chunks.measured import ChunkReport, Measurements
from dlbrt.core.chunks.rule import Pool, Rule, next_chunk
from dlbrt.core.chunks.work import WorkUnits
from dlbrt.dist.amounts import UNIFORM, WorkTable

__all__ = ["ChunkScheduler"]


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
