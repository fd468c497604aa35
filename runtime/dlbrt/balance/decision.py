"""The decision at a synchronization: new shares, and whether moving to them pays.

Zaki et al.: new shares are in proportion to measured speed (eq. 1.3.3); nothing moves where there is too
little to move, or where the predicted improvement is under 10 %. The paper leaves the cost of moving out of
the profit test. Here shares move as far as that makes all end sooner (`dlbrt.predict.movement`), and the test
includes what that costs, with the cost of the synchronization itself, since a decision that ignores them
moves everything to and fro when iterations are cheap. When iterations are expensive, the next synchronization
costs an iteration besides, because ranks poll for interrupts between iterations only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import sub, truediv

from dlbrt.data.transfer import Assignment
from dlbrt.parameters import Parameters
from dlbrt.predict.movement import shares_with_movement
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class DecisionReason:
    """Why a decision was taken, in the words that statistics and traces show."""

    text: str


MOVE = DecisionReason("move")
RULED = DecisionReason("move by the strategy's own rule")
BALANCED = DecisionReason("too little to move")
UNPROFITABLE = DecisionReason("gain below the threshold")


@dataclass(frozen=True, slots=True)
class Decision:
    """New shares of the work (the old ones where nothing moves), and the predicted times to the end.

    ``before_s`` is the predicted time to finish without moving, ``after_s`` with moving, costs included, both
    from the moment of the decision. ``assignments`` say who gives to whom, where the strategy's own rule says
    so; elsewhere work moves in few messages, and only if moving pays.
    """

    shares: tuple[int, ...]
    before_s: float
    after_s: float
    verdict: DecisionReason
    assignments: tuple[Assignment, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether work moves."""
        return self.verdict in (MOVE, RULED)  # by value: the decision may come from another rank


@dataclass(frozen=True, slots=True)
class DecisionInputs:
    """What every rank knows alike at a synchronization; sequences are indexed by rank.

    ``remaining`` is work in quanta, ``reserved`` the part of it that stays where it is; ``speeds`` are quanta
    a second; ``unit`` is the mean work of a unit, 1 where all units cost the same; ``exchange_s`` and
    ``unit_move_s`` are the measured costs of a synchronization and of moving one unit's data.
    """

    remaining: Sequence[int]
    reserved: Sequence[int]
    speeds: Sequence[float]
    exchange_s: float
    unit: float
    unit_move_s: float
    parameters: Parameters


#: A rule for new shares; None leaves the work where it is.
DecisionRule = Callable[[DecisionInputs], Decision | None]


def decide(inputs: DecisionInputs) -> Decision:
    """New shares of the remaining work, by speed and as far as movement gains time, if moving to them pays.

    Speeds must be above 0. Every rank that calls this with the same inputs decides the same.
    """
    remaining, speeds, parameters = inputs.remaining, inputs.speeds, inputs.parameters
    shares = shares_with_movement(remaining, speeds, inputs.reserved, inputs.unit_move_s / inputs.unit)
    moved = sum(amount for amount in map(sub, remaining, shares) if amount > 0)
    before_s = longest_s(remaining, speeds)
    costs_s = inputs.exchange_s + inputs.unit / max(speeds) + movement_s(inputs, shares)
    after_s = costs_s + longest_s(shares, speeds)
    if moved < max(inputs.unit, parameters.min_moved * sum(remaining)):
        return Decision(tuple(remaining), before_s, before_s, BALANCED)
    if after_s > (1 - parameters.profitability) * before_s:
        return Decision(tuple(remaining), before_s, after_s, UNPROFITABLE)
    return Decision(shares, before_s, after_s, MOVE)


def movement_s(inputs: DecisionInputs, shares: Sequence[int]) -> float:
    """How long it takes until ranks hold ``shares``.

    Links work in parallel, so the busiest giver (or taker) sets the time.
    """
    surplus = list(map(sub, inputs.remaining, shares))
    busiest = max(max(surplus), -min(surplus))
    return float(busiest / inputs.unit * inputs.unit_move_s)


def still_pays(
    decision: Decision, reached: Sequence[int], speeds: Sequence[float], parameters: Parameters
) -> bool:
    """Whether moving pays with the shares ``reached`` in whole units; it always does by a strategy's rule."""
    costs_s = decision.after_s - longest_s(decision.shares, speeds)
    after_s = costs_s + longest_s(reached, speeds)
    return decision.verdict == RULED or after_s <= (1 - parameters.profitability) * decision.before_s


def longest_s(work: Sequence[int], speeds: Sequence[float]) -> float:
    """How many seconds the slowest rank takes for its work."""
    return float(max(map(truediv, work, speeds)))
