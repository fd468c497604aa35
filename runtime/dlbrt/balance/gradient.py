"""``gradient``, a baseline: the gradient model of Lin and Keller (IEEE TSE 13(1), 1987; Lin's thesis, Utah).

Ranks lie on a line. The proximity of a rank is its distance to the nearest idle one, the diameter plus
one where nobody is idle. Demand alone moves work: while somebody is idle, every abundant rank, one with
more than a task, gives of it to the neighbour of least proximity, which is one hop towards the nearest
idle rank; what is given has no further destination. Where nobody is idle the system is saturated, and
nothing moves. Nobody asks whether moving pays, nor how fast others are.

In this framework a task is a unit of work, and what an abundant rank gives is half of what it has not
reserved; it goes on from there at the next synchronization, if somebody is idle still. A rank that runs
out interrupts: that is its demand. If it is idle after that, its demand stands, and ranks synchronize by
the clock until it is met (`Periodicity.IDLE`).

Law. A window ends by a rank that has run out of a share that it had, and so has done a unit at least, or
by the clock, of which `dlbrt.balance.strategies` tells. What remains falls from window to window,
so there are finitely many, whatever moves; and a rank with one unit keeps it, so that it is not passed on
undone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dlbrt.balance.decision import Decision
from dlbrt.balance.strategy import DecisionInputs, Periodicity, Strategy, decide_assignments
from dlbrt.data.transfer import Assignment
from dlbrt.records import dataclass

#: What an abundant rank gives of what it is free to give.
_PORTION = 0.5


@dataclass(frozen=True, slots=True)
class _Gradient:
    name: str = "gradient"
    local: bool = False
    central: bool = False
    interrupts: bool = True
    interrupts_early: bool = False
    periodicity: Periodicity = Periodicity.IDLE

    def decide(self, decision_inputs: DecisionInputs) -> Decision | None:
        """Half of what abundant ranks may give goes one hop towards the nearest idle rank."""
        proximity = proximities([amount == 0 for amount in decision_inputs.remaining])
        assignments = []
        for rank, nearest in enumerate(proximity):
            if 0 < nearest < len(proximity) and (amount := _portion(decision_inputs, rank)):
                neighbours = [other for other in (rank - 1, rank + 1) if 0 <= other < len(proximity)]
                assignments.append(Assignment(rank, min(neighbours, key=proximity.__getitem__), amount))
        return decide_assignments(decision_inputs, assignments) if assignments else None


def proximities(idle: Sequence[bool]) -> list[int]:
    """The distance of each rank on the line to the nearest idle one; the number of ranks where none is."""
    found = [0 if is_idle else len(idle) for is_idle in idle]
    for rank in range(1, len(found)):
        found[rank] = min(found[rank], found[rank - 1] + 1)
    for rank in reversed(range(len(found) - 1)):
        found[rank] = min(found[rank], found[rank + 1] + 1)
    return found


def _portion(decision_inputs: DecisionInputs, rank: int) -> int:
    """What an abundant rank gives, a unit at least; nothing of another."""
    free, unit = (
        decision_inputs.remaining[rank] - decision_inputs.reserved[rank],
        math.ceil(decision_inputs.unit),
    )
    return max(unit, round(_PORTION * free)) if free >= unit and decision_inputs.remaining[rank] > unit else 0


STRATEGIES: tuple[Strategy, ...] = (_Gradient(),)
