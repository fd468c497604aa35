"""``affinity``, a baseline: affinity scheduling of Markatos and LeBlanc (IEEE TPDS 5(4), 1994).

Every processor starts with N/P iterations of its own, the same each time, so that it finds their data
where it left them. It takes 1/k of its own queue at a time; once that is empty, it takes 1/P of what
remains to the most loaded processor, and so on. Nobody asks whether moving pays, nor how fast others are:
the fast come more often.

In this framework the queues lie on the ranks. That an owner takes but 1/k of its queue at once leaves the
rest to others; here it is left to them after every chunk, when a rank looks around. A rank that runs out
interrupts; all that have no work are then served in the order of ranks, each by the rank with most work
left.

Law. Only a rank that has run out of a share that it had interrupts, and so has done a unit of work at
least: what remains falls from window to window, and there are finitely many, whatever moves. Nothing is
taken that its owner has reserved, nor its last unit, which it would be about to begin; where nothing else is
left, who has no work waits.
"""

from __future__ import annotations

import math
from heapq import heapify, heapreplace

from dlbrt.balance.decision import Decision
from dlbrt.balance.strategy import DecisionInputs, Periodicity, Strategy, decide_assignments
from dlbrt.data.transfer import Assignment
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class _Affinity:
    name: str = "affinity"
    local: bool = False
    central: bool = False
    interrupts: bool = True
    interrupts_early: bool = False
    periodicity: Periodicity = Periodicity.NEVER

    def decide(self, decision_inputs: DecisionInputs) -> Decision | None:
        """Each rank without work takes 1/P of what remains to the most loaded one."""
        left, assignments = list(decision_inputs.remaining), []
        unit, ranks = math.ceil(decision_inputs.unit), len(left)
        free = [n - kept for n, kept in zip(left, decision_inputs.reserved, strict=True)]
        owners = [(-amount, rank) for rank, amount in enumerate(left)]
        heapify(owners)  # the most loaded first, of equals the lowest
        for taker in (rank for rank, amount in enumerate(decision_inputs.remaining) if amount == 0):
            owner = owners[0][1]
            amount = min(free[owner], max(unit, math.ceil(left[owner] / ranks)))
            if amount == 0 or left[owner] <= unit:
                break  # what is left is begun, or as good as that
            assignments.append(Assignment(owner, taker, amount))
            left[owner] -= amount
            free[owner] -= amount
            heapreplace(owners, (-left[owner], owner))
        return decide_assignments(decision_inputs, assignments) if assignments else None


STRATEGIES: tuple[Strategy, ...] = (_Affinity(),)
