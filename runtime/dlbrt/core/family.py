"""The strategies of Zaki, Li, Parthasarathy: a rank out of work interrupts, shares follow measured speed.

They differ along two axes, among whom they balance and where they decide (section 1.2.1); the rule for new
shares is the same (`dlbrt.core.decision`).
"""

from __future__ import annotations

from dlbrt.core.decision import Decision, decide
from dlbrt.core.strategy import Clocked, Situation
from dlbrt.records import dataclass

__all__ = ["Interrupting"]


@dataclass(frozen=True, slots=True)
class Interrupting:
    """A strategy of the paper by its name and its place on the axes."""

    name: str
    local: bool = False
    central: bool = False
    interrupts: bool = True
    foresees: bool = True
    clocked: Clocked = Clocked.NEVER

    def decide(self, situation: Situation) -> Decision | None:
        """Shares in proportion to speed, if moving to them pays."""
        return decide(
            situation.remaining,
            situation.reserved,
            situation.speeds,
            situation.parameters,
            exchange_s=situation.exchange_s,
            unit=situation.unit,
            unit_move_s=situation.unit_move_s,
        )
