"""``affinity`` and ``gradient``, two baselines that decide who gives to whom by a rule of their own.

``affinity`` is affinity scheduling of Markatos and LeBlanc (IEEE TPDS 5(4), 1994). Every processor starts
with N/P iterations of its own, the same each time, so that it finds their data where it left them. It takes
1/k of its own queue at a time; once the queue is empty, it takes 1/P of what remains to the most loaded
processor, and so on. It does not ask whether moving pays, nor how fast others are: the fast come more often.
In this framework the queues lie on the ranks. That an owner takes only 1/k of its queue at once leaves the
rest to others; here the rest is left to them after every chunk, when a rank polls. A rank that runs out
interrupts; all ranks without work are then served in the order of ranks, each by the rank with most work
left.

Law of ``affinity``. Only a rank that has run out of a share that it had interrupts, and so has done at least
a unit of work: what remains falls from window to window, and there are finitely many windows, whatever moves.
No rank takes what its owner has reserved, nor the owner's last unit, which the owner would be about to begin;
where nothing else is left, a rank without work waits.

``gradient`` is the gradient model of Lin and Keller (IEEE TSE 13(1), 1987; Lin's thesis, Utah). Ranks lie on
a line. The proximity of a rank is its distance to the nearest idle rank, the diameter plus one where no rank
is idle. Demand alone moves work: while a rank is idle, every abundant rank, one with more than a task, gives
work to its neighbour of least proximity, which is one hop towards the nearest idle rank; the work has no
further destination. Where no rank is idle the system is saturated, and nothing moves. The rule does not ask
whether moving pays, nor how fast others are. In this framework a task is a unit of work, and an abundant rank
gives half of what it has not reserved; the work goes on from there at the next synchronization, if a rank is
still idle. A rank that runs out interrupts: that is its demand. If it is idle after the synchronization, its
demand stands, and ranks synchronize by the clock until it is met (`Periodicity.IDLE`).

Law of ``gradient``. A window ends by a rank that has run out of a share that it had, and so has done at least
a unit, or by the clock, as under ``periodic`` (`dlbrt.balance.strategies`). What remains falls from window to
window, so there are finitely many windows, whatever moves; and a rank with one unit keeps it, so that the
unit is not passed on undone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heapify, heapreplace

from dlbrt.balance.decision import Decision, DecisionInputs
from dlbrt.balance.strategy import Periodicity, Strategy, decide_assignments
from dlbrt.data.transfer import Assignment

#: The part of its free work that an abundant rank gives under ``gradient``.
_PORTION = 0.5


class _Affinity(Strategy):
    def decide(self, inputs: DecisionInputs) -> Decision | None:
        """Each rank without work takes 1/P of what remains to the most loaded rank."""
        left, assignments = list(inputs.remaining), []
        unit, ranks = math.ceil(inputs.unit), len(left)
        free = [n - kept for n, kept in zip(left, inputs.reserved, strict=True)]
        owners = [(-amount, rank) for rank, amount in enumerate(left)]
        heapify(owners)  # the most loaded first, of equals the lowest
        for taker in (rank for rank, amount in enumerate(inputs.remaining) if amount == 0):
            owner = owners[0][1]
            amount = min(free[owner], max(unit, math.ceil(left[owner] / ranks)))
            if amount == 0 or left[owner] <= unit:
                break  # what is left is begun, or is about to be
            assignments.append(Assignment(owner, taker, amount))
            left[owner] -= amount
            free[owner] -= amount
            heapreplace(owners, (-left[owner], owner))
        return decide_assignments(inputs, assignments) if assignments else None


class _Gradient(Strategy):
    def decide(self, inputs: DecisionInputs) -> Decision | None:
        """Half of what abundant ranks may give goes one hop towards the nearest idle rank."""
        proximity = proximities([amount == 0 for amount in inputs.remaining])
        assignments = []
        for rank, nearest in enumerate(proximity):
            if 0 < nearest < len(proximity) and (amount := _portion(inputs, rank)):
                neighbours = [other for other in (rank - 1, rank + 1) if 0 <= other < len(proximity)]
                assignments.append(Assignment(rank, min(neighbours, key=proximity.__getitem__), amount))
        return decide_assignments(inputs, assignments) if assignments else None


def proximities(idle: Sequence[bool]) -> list[int]:
    """The distance of each rank on the line to the nearest idle rank; the number of ranks if none is idle."""
    found = [0 if is_idle else len(idle) for is_idle in idle]
    for rank in range(1, len(found)):
        found[rank] = min(found[rank], found[rank - 1] + 1)
    for rank in reversed(range(len(found) - 1)):
        found[rank] = min(found[rank], found[rank + 1] + 1)
    return found


def _portion(inputs: DecisionInputs, rank: int) -> int:
    """What a rank gives: at least a unit if it is abundant, otherwise nothing."""
    remaining, unit = inputs.remaining[rank], math.ceil(inputs.unit)
    free = remaining - inputs.reserved[rank]
    return max(unit, round(_PORTION * free)) if free >= unit and remaining > unit else 0


STRATEGIES: tuple[Strategy, ...] = (
    _Affinity("affinity", interrupts_early=False),
    _Gradient("gradient", interrupts_early=False, periodicity=Periodicity.IDLE),
)
