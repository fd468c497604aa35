"""Decisions by a rule that says who gives to whom, as those of the diffusion and task queue models do.

Such rules (Zaki et al., section 1.1.1) do not ask whether moving pays; what it gains is predicted for the
record, as in `dlbrt.core.decision`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.core.decision import RULED, Decision, longest_s
from dlbrt.core.strategy import DecisionInputs
from dlbrt.dist.transfer import Assignment

__all__ = ["decide_assignments"]


def decide_assignments(decision_inputs: DecisionInputs, assignments: Sequence[Assignment]) -> Decision:
    """The decision to give these, in ticks; no rank may give more than it holds and has not reserved."""
    ranks, speeds = len(decision_inputs.remaining), decision_inputs.speeds
    out, into = [0] * ranks, [0] * ranks
    for assignment in assignments:
        out[assignment.source] += assignment.amount
        into[assignment.target] += assignment.amount
    shares = tuple(
        n - less + more for n, less, more in zip(decision_inputs.remaining, out, into, strict=True)
    )
    busiest = max(*out, *into) / decision_inputs.unit
    costs_s = (
        decision_inputs.exchange_s
        + decision_inputs.unit / max(speeds)
        + busiest * decision_inputs.unit_move_s
    )
    before_s = longest_s(decision_inputs.remaining, speeds)
    return Decision(shares, before_s, costs_s + longest_s(shares, speeds), RULED, tuple(assignments))
