"""Plays self-scheduling in virtual time: ranks that ask, compute and report, on a heap of (time, sequence).

Pure and deterministic. All ranks ask at time 0, in their order; a request costs the rank ``overhead_s``; an
iteration of cost c takes c/speed seconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from dlbrt.chunks.scheduler import ChunkScheduler
from numpy.typing import NDArray

__all__ = ["Played", "play"]


@dataclass(frozen=True)
class Played:
    """When the last rank ended, and who did which iterations, in the order of dealing."""

    makespan_s: float
    chunks: tuple[tuple[int, range], ...]

    @property
    def sizes(self) -> list[int]:
        return [len(chunk) for _, chunk in self.chunks]


def play(
    scheduler: ChunkScheduler, costs_s: NDArray[np.float64], speeds: Sequence[float], overhead_s: float = 0.0
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
