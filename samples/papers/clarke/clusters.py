"""The machines of Clarke, Lastovetsky and Rychkov (table 1), as far as the paper gives them, and their loop.

No curve of the paper is given as numbers. Here a processor's speed is that of its clock (the Pentium 4's a
little less), 30 MB of its memory are the system's, and where its rows no longer fit its speed falls by 15,
over `width` of the rows that fit. The width was chosen to meet the paper's nine iterations, so the tests look
at other widths too. Memory is that of Jacobi's method: rows of n doubles, and three vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.emulation import WIDTH, Cliff
from dlbrt.speed.models import Partition, SpeedModels
from dlbrt.speed.pass_balancer import imbalance
from dlbrt.speed.points import ModelKind

MB = 2**20
SYSTEM_MB = 30
SLOWER = 15.0
DOUBLE = 8
VECTORS = 3

#: Table 1: speed by the clock in GHz, RAM in MB.
PROCESSORS = {"P1": (3.6, 256), "P2": (3.0, 256), "P3": (3.35, 512), "P4": (3.4, 1024), "P5": (3.4, 1024)}
CLUSTERS = {1: ("P1", "P3", "P4", "P5"), 2: ("P1", "P2", "P3", "P4")}

#: The imbalance at which the figures of the papers count as balanced, and how many passes are waited for it.
TARGET = 0.1
PASSES = 20


@dataclass(frozen=True)
class Machine:
    """Processors of some speeds, units a second, each with its cliff."""

    speeds: tuple[float, ...]
    cliffs: tuple[Cliff, ...]

    def speed(self, counts: Sequence[int]) -> Floats:
        """Of each processor, with so many units."""
        slower = [cliff.slowdown(count) for cliff, count in zip(self.cliffs, counts, strict=True)]
        return np.asarray(np.asarray(self.speeds) / np.asarray(slower), dtype=np.float64)

    def seconds(self, counts: Sequence[int]) -> list[float]:
        """Of each processor, for so many units."""
        seconds: list[float] = (np.asarray(counts, dtype=np.float64) / self.speed(counts)).tolist()
        return seconds

    def optimum(self, n: int) -> float:
        """The least makespan of n units."""
        low, high = 0.0, max(self.seconds([n] * len(self.speeds)))
        for _ in range(60):
            middle = (low + high) / 2
            fits = sum(self._most(rank, middle, n) for rank in range(len(self.speeds)))
            low, high = (low, middle) if fits >= n else (middle, high)
        return high

    def _most(self, rank: int, seconds: float, n: int) -> int:
        """The most units that a processor does in this time, which grows with them."""
        low, high = 0, n
        while low < high:
            middle = (low + high + 1) // 2
            taken = middle * self.cliffs[rank].slowdown(middle) / self.speeds[rank]
            low, high = (middle, high) if taken <= seconds else (low, middle - 1)
        return low


def cluster(number: int, n: int, width: float = WIDTH) -> Machine:
    """Cluster 1 or 2 with rows of ``n`` doubles."""
    known = [PROCESSORS[name] for name in CLUSTERS[number]]
    rows = [((ram - SYSTEM_MB) * MB - VECTORS * DOUBLE * n) / (DOUBLE * n) for _, ram in known]
    return Machine(tuple(clock for clock, _ in known), tuple(Cliff(fit, SLOWER, width) for fit in rows))


@dataclass(frozen=True)
class Pass:
    """One pass: who had how much, how long it took, and the partition that followed."""

    counts: tuple[int, ...]
    imbalance: float
    makespan: float
    following: Partition


def passes(
    machine: Machine, model: ModelKind, n: int, most: int = PASSES, target: float = TARGET
) -> list[Pass]:
    """The paper's loop (section 4) from equal shares, until it is balanced or for so many passes."""
    models = SpeedModels(len(machine.speeds), model)
    counts = models.partition(n).counts
    found: list[Pass] = []
    while len(found) < most and (not found or found[-1].imbalance > target):
        seconds = machine.seconds(counts)
        models.add(counts, seconds)
        following = models.partition(n)
        found.append(Pass(counts, imbalance(seconds), max(seconds), following))
        counts = following.counts
    return found
