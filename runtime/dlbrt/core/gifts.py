"""Decisions by a rule that says who gives to whom, as those of the diffusion and task queue models do.

Such rules (Zaki et al., section 1.1.1) do not ask whether moving pays; what it gains is predicted for the
record, as in `dlbrt.core.decision`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.core.decision import RULED, Decision, longest_s
from dlbrt.core.strategy import Situation
from dlbrt.dist.transfer import Gift

__all__ = ["given"]


def given(situation: Situation, gifts: Sequence[Gift]) -> Decision:
    """The decision to give these, in ticks; no rank may give more than it holds and has not reserved."""
    ranks, speeds = len(situation.remaining), situation.speeds
    out, into = [0] * ranks, [0] * ranks
    for gift in gifts:
        out[gift.source] += gift.amount
        into[gift.target] += gift.amount
    shares = tuple(n - less + more for n, less, more in zip(situation.remaining, out, into, strict=True))
    busiest = max(*out, *into) / situation.unit
    costs_s = situation.exchange_s + situation.unit / max(speeds) + busiest * situation.unit_move_s
    before_s = longest_s(situation.remaining, speeds)
    return Decision(shares, before_s, costs_s + longest_s(shares, speeds), RULED, tuple(gifts))
