"""Work as a fluid: when it is all done if it could be cut anywhere and moved at no cost.

No strategy is faster, so this is the floor that predictions stand on, and what the first part of a loop with
very many chunks comes to. The capacities C_i(t) of the processors under load (`speed`) add up; the floor is
the time t with sum_i e_i C_i(t) = W, where e_i <= 1 is the part of its time that a processor computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.core.model.speed import Processor
from dlbrt.records import dataclass

__all__ = ["RemainingWork", "lower_bound_s"]

#: How near the work done by that time is to what was asked for.
NEAR = 1e-6

MAX_STEPS = 60


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """So many iterations, and the seconds that they take together on the base processor."""

    count: int
    work_s: float

    @property
    def mean_s(self) -> float:
        """Base seconds of an iteration; 0 where none is left."""
        return self.work_s / self.count if self.count else 0.0


def lower_bound_s(processors: Sequence[Processor], work_s: float, parts: Sequence[float] = ()) -> float:
    """When ``work_s`` base seconds are done by all, of whom each computes ``parts[i]`` of its time (1).

    Times count from 0; ``parts`` are above 0. Fixed-point steps t := t W / C(t), which the loads' blocks make
    converge fast, kept within a bracket that is halved where they do not.
    """
    if work_s <= 0:
        return 0.0
    parts = parts or (1.0,) * len(processors)
    pairs = list(zip(parts, processors, strict=True))
    now = work_s / sum(part * each.speed for part, each in pairs)
    below, above = 0.0, float("inf")
    for _ in range(MAX_STEPS):
        done_s = sum(part * each.capacity(now) for part, each in pairs)
        if abs(done_s - work_s) <= NEAR * work_s:
            break
        below, above = (now, above) if done_s < work_s else (below, now)
        now *= work_s / done_s
        if not below < now < above:
            now = (below + above) / 2 if above < float("inf") else 2 * below
    return now
