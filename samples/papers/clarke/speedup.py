"""Figure 13: how much faster 100 passes are than with equal shares, by size, on sixteen processors.

Movement over 1 Gbit/s is counted. The traditional loop moves whatever that costs, the balancer if it pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dlbrt.speed.models import SpeedModels
from dlbrt.speed.pass_balancer import PassBalancer, imbalance
from dlbrt.speed.points import ModelKind

from papers.clarke.clusters import DOUBLE, Machine, cluster

__all__ = ["SIZES", "Speedup", "processors", "speedup"]

SIZES = range(2000, 26001, 1000)
PROCESSORS = 16
PASSES = 100
TOLERANCE = 0.05
#: Bytes a second that the first processor reads, that a link carries.
READ = 2e9
BANDWIDTH = 1.25e8


@dataclass(frozen=True, slots=True)
class Speedup:
    """How many times faster than with equal shares: the traditional loop, and the balancer by model."""

    n: int
    traditional: float
    constant: float
    piecewise: float
    akima: float


def processors(n: int) -> Machine:
    """Sixteen uneven processors: four times those of cluster 2, which pass through their rows in memory."""
    four = cluster(2, n)
    rows_s = READ / (DOUBLE * n) / four.speeds[0]
    return Machine(tuple(speed * rows_s for speed in four.speeds * 4), four.cliffs * 4)


def speedup(n: int) -> Speedup:
    """Of n rows."""
    return Speedup(n, _of(n, None), *(_of(n, model) for model in ModelKind))


def _of(n: int, model: ModelKind | None) -> float:
    """Over as many passes with equal shares; None: of the traditional loop."""
    machine = processors(n)
    balancer = PassBalancer(PROCESSORS, model or ModelKind.CONSTANT)
    constant = SpeedModels(PROCESSORS, ModelKind.CONSTANT)
    counts = balancer.first(n)
    equal_s, taken_s = PASSES * max(machine.seconds(counts)), 0.0
    for _ in range(PASSES):
        times = machine.seconds(counts)
        if model is None:
            constant.add(counts, times)
            then = constant.partition(n).counts if imbalance(times) > TOLERANCE else counts
        else:
            then = balancer.after(counts, times, movement_s=partial(_movement_s, n, counts)).counts
        taken_s += max(times) + _movement_s(n, counts, then)
        counts = then
    return equal_s / taken_s


def _movement_s(n: int, now: Sequence[int], then: Sequence[int]) -> float:
    """As long as the rank takes that has most to send or to receive."""
    return max(abs(a - b) for a, b in zip(now, then, strict=True)) * DOUBLE * n / BANDWIDTH
