"""The outside check: 64 ranks, the last 32 four times slower, 20 000 exponential iterations; ideal 2.50 s.

The figures are those of one run each of unmodified DLS4LB under SimGrid SMPI, as its names are.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from dlbrt.chunks.rule import Rule
from dlbrt.chunks.rules import Trapezoid, fsc
from dlbrt.chunks.statistics import LoopStatistics, ScheduledLoop
from dlbrt.chunks.table import RULES
from dlbrt.data.work_table import UNIFORM, WorkTable
from numpy.typing import NDArray

from tests.support.chunk_player import Played, ReportingScheduler, play

__all__ = [
    "FIGURES_S",
    "MEAN_S",
    "OVERHEAD_S",
    "RANKS",
    "SPEEDS",
    "TSS_THERE",
    "N",
    "draw",
    "ideal_s",
    "rule_of",
    "run",
]

N, RANKS, MEAN_S, OVERHEAD_S = 20_000, 64, 0.005, 5e-5
SPEEDS = (1.0,) * 32 + (0.25,) * 32

#: TSS with the step that an integer leaves of it.
TSS_THERE = "TSS, step 0"

#: Our names -> seconds there. Its FAC is factoring with x = 2.
FIGURES_S = {
    "STATIC": 6.63,
    "SS": 4.27,
    "GSS": 4.06,
    TSS_THERE: 3.68,
    "FAC2": 3.68,
    "WF": 2.57,
    "AWF_B": 2.54,
    "AWF_C": 2.52,
    "AWF_D": 2.59,
    "AWF_E": 2.54,
    "AF": 4.38,
}


def draw(seed: int) -> NDArray[np.float64]:
    """Seconds of the iterations on a fast rank."""
    return np.random.default_rng(seed).exponential(MEAN_S, N)


def ideal_s(costs_s: NDArray[np.float64]) -> float:
    """All ranks busy to the same moment."""
    return float(costs_s.sum()) / sum(SPEEDS)


def rule_of(name: str) -> Rule:
    """STATIC is FSC without deviation; WF is told the true weights."""
    if name == "STATIC":
        return fsc(ScheduledLoop(N, RANKS, LoopStatistics(deviation_s=0.0, overhead_s=0.0)))
    if name == TSS_THERE:
        return Trapezoid(ScheduledLoop(N, RANKS), Fraction(0))
    statistics = LoopStatistics(MEAN_S, MEAN_S, OVERHEAD_S, SPEEDS if name == "WF" else ())
    return RULES[name].make(ScheduledLoop(N, RANKS, statistics))


def run(name: str, costs_s: NDArray[np.float64], by_work: bool = False) -> Played:
    """One run under a rule; ``by_work``: the cost of each iteration is known beforehand."""
    return play(
        ReportingScheduler(rule_of(name), known(costs_s) if by_work else UNIFORM), costs_s, SPEEDS, OVERHEAD_S
    )


def known(costs_s: NDArray[np.float64]) -> WorkTable:
    """A table of the work of each iteration."""
    share = np.concatenate(([0.0], np.cumsum(costs_s))) / costs_s.sum()
    quanta = np.rint(np.minimum(share, 1.0) * 2.0**50).astype(np.int64)
    return WorkTable(tuple(range(len(costs_s) + 1)), tuple(quanta.tolist()))
