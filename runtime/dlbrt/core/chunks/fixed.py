"""Chunks of one size: SS, FSC, mFSC.

* SS: one unit (Tang, Yew 1986): least imbalance, most chunks.
* FSC: (sqrt(2) N h / (sigma P sqrt(ln P)))^(2/3), rounded up, for which overhead and the expected wait for
  the last rank are least together (Kruskal, Weiss 1985, for large N and equal ranks). With P = 1 or sigma =
  0 nobody waits, and the chunk is a rank's share; it never is more. DLS4LB divides by 0 in both cases.
* mFSC: about as many chunks as factoring makes, without knowing sigma or h: floor(0.55 + n ln 2 / ln n) with
  n = ceil(N/P), as in DLS4LB; 1 for n = 1, where the formula divides by 0.
"""

from __future__ import annotations

from math import ceil, log, sqrt

from dlbrt.core.chunks.loop import LoopStatistic, ScheduledLoop
from dlbrt.core.chunks.measured import Measurements
from dlbrt.core.chunks.rule import Batch, Pool, Rule
from dlbrt.core.chunks.sequence import ChunkSequence

__all__ = ["FixedSize", "fsc", "mfsc", "mfsc_size", "ss"]


class FixedSize(Rule):
    """Chunks of ``chunk`` >= 1 units."""

    def __init__(self, loop: ScheduledLoop, chunk: int) -> None:
        super().__init__(loop)
        self.chunk = chunk

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """The same for all."""
        return self.chunk

    def sequence(self) -> ChunkSequence:
        """One run."""
        return ChunkSequence(self.loop.n, [(max(1, -(-self.loop.n // self.chunk)), self.chunk)])


def ss(loop: ScheduledLoop) -> Rule:
    """Self-scheduling."""
    return FixedSize(loop, 1)


def fsc(loop: ScheduledLoop) -> Rule:
    """Fixed-size chunking; ValueError where overhead or deviation is not known."""
    loop.require("FSC", LoopStatistic.OVERHEAD, LoopStatistic.DEVIATION)
    overhead, deviation = loop.known.overhead_s or 0.0, loop.known.deviation_s or 0.0
    share = max(1, loop.each)
    waiting = deviation * loop.ranks * sqrt(log(loop.ranks))
    work = sqrt(2) * loop.n * overhead
    if not work < share**1.5 * waiting:  # also where the quotient would not be finite
        return FixedSize(loop, share)
    return FixedSize(loop, min(share, max(1, ceil((work / waiting) ** (2 / 3)))))


def mfsc(loop: ScheduledLoop) -> Rule:
    """Modified fixed-size chunking."""
    return FixedSize(loop, mfsc_size(loop))


def mfsc_size(loop: ScheduledLoop) -> int:
    """The chunk of mFSC, 1 or more."""
    share = loop.each
    return max(1, int(0.55 + share * log(2) / log(share))) if share > 1 else 1
