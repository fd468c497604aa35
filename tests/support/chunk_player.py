"""Plays self-scheduling in virtual time: ranks that ask, compute and report, on a heap of (time, sequence).

Pure and deterministic. All ranks ask at time 0, in their order; a request costs the rank ``overhead_s``; an
iteration of cost c takes c/speed seconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from dlbrt.chunks.rule import Pool, Rule, next_chunk
from dlbrt.chunks.scheduler import ChunkScheduler
from dlbrt.chunks.statistics import ChunkReport, Measurements
from dlbrt.data.work_table import UNIFORM, WorkTable
from numpy.typing import NDArray

__all__ = ["Played", "ReportingScheduler", "play", "take"]


@dataclass(frozen=True)
class Played:
    """When the last rank ended, and who did which iterations, in the order of dealing."""

    makespan_s: float
    chunks: tuple[tuple[int, range], ...]

    @property
    def sizes(self) -> list[int]:
        return [len(chunk) for _, chunk in self.chunks]


class ReportingScheduler(ChunkScheduler):
    """A scheduler that takes reports of chunks, as a master does."""

    def __init__(self, rule: Rule, work_table: WorkTable = UNIFORM) -> None:
        super().__init__(rule, work_table)
        self._costs = work_table

    def done(self, rank: int, chunk: range, compute_s: float, total_s: float) -> None:
        """The rank has done a chunk; iterations that cost nothing teach nothing."""
        if not self.rule.learns:
            return
        units, n = float(len(chunk)), self.rule.loop.n
        if not self._costs.uniform:
            work = self._costs.before(chunk.stop) - self._costs.before(chunk.start)
            units = work * n / self._costs.before(n)
        if units > 0:
            self.seen.report(ChunkReport(rank, units, compute_s, total_s))


def take(rule: Rule, pool: Pool, rank: int, seen: Measurements) -> tuple[int, Pool]:
    """The units of the rank's next chunk, 0 if nothing is left, and the pool without them."""
    if pool.left <= 0:
        return 0, pool
    size, batch = next_chunk(rule, pool, rank, seen)
    return size, Pool(pool.left - size, pool.chunks + 1, batch)


def play(
    scheduler: ReportingScheduler,
    costs_s: NDArray[np.float64],
    speeds: Sequence[float],
    overhead_s: float = 0.0,
) -> Played:
    """The run of a loop whose iterations cost so many seconds on a rank of speed 1."""
    before = np.concatenate(([0.0], np.cumsum(costs_s))).tolist()
    asking = [(0.0, rank, rank, range(0), 0.0) for rank in range(len(speeds))]
    chunks: list[tuple[int, range]] = []
    makespan, sequence = 0.0, len(speeds)
    while asking:
        now, _, rank, done, took = heapq.heappop(asking)
        if done:
            scheduler.done(rank, done, took, took + overhead_s)
            makespan = now
        chunk = scheduler.deal(rank)
        if chunk:
            took = (before[chunk.stop] - before[chunk.start]) / speeds[rank]
            chunks.append((rank, chunk))
            heapq.heappush(asking, (now + overhead_s + took, sequence, rank, chunk, took))
            sequence += 1
    return Played(makespan, tuple(chunks))
