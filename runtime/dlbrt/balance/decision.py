"""The decision at a synchronization: new shares, and whether moving to them pays.

Zaki et al.: new shares are in proportion to measured speed (eq. 1.3.3); too little to move, no move;
predicted improvement under 10 %, no move. The paper leaves the cost of moving out of the profit
test; here it is in, with the cost of the synchronization itself, since a decision that ignores them
moves everything to and fro when iterations are cheap. When they are dear, the next synchronization
costs an iteration besides, because ranks look for interrupts between iterations only.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub, truediv

from dlbrt.data.layout import quickest
from dlbrt.data.transfer import Assignment
from dlbrt.parameters import Parameters
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class DecisionReason:
    """Why a decision was taken, in a word that statistics and traces show."""

    text: str


MOVE = DecisionReason("move")
RULED = DecisionReason("move by the strategy's own rule")
BALANCED = DecisionReason("too little to move")
UNPROFITABLE = DecisionReason("gain below the threshold")


@dataclass(frozen=True, slots=True)
class Decision:
    """New shares of the work (the old ones where nothing moves), and the predicted times to the end.

    ``before_s`` is the predicted time to finish without moving, ``after_s`` with moving, costs
    included, both from the moment of the decision. ``assignments`` say who gives to whom, where the strategy's own
    rule does; elsewhere work moves in few messages, and only if that pays.
    """

    shares: tuple[int, ...]
    before_s: float
    after_s: float
    verdict: DecisionReason
    assignments: tuple[Assignment, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether work moves."""
        return self.verdict in (MOVE, RULED)  # it may have come from another rank


def decide(
    remaining: Sequence[int],
    reserved: Sequence[int],
    speeds: Sequence[float],
    parameters: Parameters,
    *,
    exchange_s: float,
    unit: float,
    unit_move_s: float,
) -> Decision:
    """New shares of the remaining work for ranks of the given speeds (work a second, > 0).

    Work is in ticks, a unit (an iteration, or a pair of them) being ``unit`` of them on average; where all
    cost the same it is 1. ``reserved`` of each rank's work stays with it. ``exchange_s`` is what one more
    synchronization costs, ``unit_move_s`` what moving the data of one unit costs. Every rank that calls
    this with the same arguments decides the same.
    """
    shares = quickest(sum(remaining), speeds, reserved)
    surplus = list(map(sub, remaining, shares))
    moved = sum(amount for amount in surplus if amount > 0)
    before_s = longest_s(remaining, speeds)
    # Links work side by side, so the busiest giver (or taker) sets the time of the movement.
    busiest = max(max(surplus), -min(surplus))
    costs_s = exchange_s + unit / max(speeds) + busiest / unit * unit_move_s
    after_s = costs_s + longest_s(shares, speeds)
    if moved < max(unit, parameters.min_moved * sum(remaining)):
        return Decision(tuple(remaining), before_s, before_s, BALANCED)
    if after_s > (1 - parameters.profitability) * before_s:
        return Decision(tuple(remaining), before_s, after_s, UNPROFITABLE)
    return Decision(shares, before_s, after_s, MOVE)


def still_pays(
    decision: Decision, reached: Sequence[int], speeds: Sequence[float], parameters: Parameters
) -> bool:
    """Whether a decision to move is worth it with the shares that whole units come to.

    What a strategy's own rule says is not held to that.
    """
    costs_s = decision.after_s - longest_s(decision.shares, speeds)
    after_s = costs_s + longest_s(reached, speeds)
    return decision.verdict == RULED or after_s <= (1 - parameters.profitability) * decision.before_s


def longest_s(work: Sequence[int], speeds: Sequence[float]) -> float:
    """How many seconds the last rank takes for its work."""
    return float(max(map(truediv, work, speeds)))
