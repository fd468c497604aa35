"""What a strategy is: which ranks balance, where it decides, when they synchronize, the new shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum

from dlbrt.balance.decision import RULED, Decision, DecisionInputs, longest_s
from dlbrt.data.transfer import Assignment
from dlbrt.records import dataclass


class Periodicity(Enum):
    """When a rank with work gives its profile by the clock, a period after the last synchronization."""

    NEVER = "it works until it is interrupted"
    ALWAYS = "in every window"
    IDLE = "in windows at whose start a member of its group has no work"


@dataclass(frozen=True, slots=True)
class Strategy(ABC):
    """A name in the contract, a place on the paper's axes, a timing, and a rule for new shares.

    ``local``: each group balances for itself; otherwise all ranks balance together. ``central``: rank 0
    decides for all, and profiles go there; otherwise every rank decides the same. ``interrupts``: a rank out
    of work interrupts the others; ``interrupts_early``: it does so a little before, if it sees that the
    others will not be done by then. ``periodicity`` says when ranks synchronize by the clock, uninterrupted.
    `dlbrt.balance.strategies` has all strategies by name.
    """

    name: str
    local: bool = False
    central: bool = False
    interrupts: bool = True
    interrupts_early: bool = True
    periodicity: Periodicity = Periodicity.NEVER

    @abstractmethod
    def decide(self, inputs: DecisionInputs) -> Decision | None:
        """The new shares; None leaves the work where it is."""


def defer_to_exchange(inputs: DecisionInputs) -> None:
    """Decide nothing, in a group that goes to a group exchange, where all groups decide together."""


def decide_assignments(inputs: DecisionInputs, assignments: Sequence[Assignment]) -> Decision:
    """The decision to give these amounts, in quanta, by a rule that says who gives to whom.

    Such rules, as those of the diffusion and task queue models (Zaki et al., section 1.1.1), do not ask
    whether moving pays; the gain is predicted for the record, as in `dlbrt.balance.decision`. No rank may
    give more than it holds and has not reserved.
    """
    ranks, speeds = len(inputs.remaining), inputs.speeds
    out, into = [0] * ranks, [0] * ranks
    for assignment in assignments:
        out[assignment.source] += assignment.amount
        into[assignment.target] += assignment.amount
    shares = tuple(n - less + more for n, less, more in zip(inputs.remaining, out, into, strict=True))
    busiest = max(*out, *into) / inputs.unit
    costs_s = inputs.exchange_s + inputs.unit / max(speeds) + busiest * inputs.unit_move_s
    before_s = longest_s(inputs.remaining, speeds)
    return Decision(shares, before_s, costs_s + longest_s(shares, speeds), RULED, tuple(assignments))
