"""``none``: the initial partition stands. The baseline that every other strategy is compared with."""

from __future__ import annotations

from dlbrt.core.decision import Decision
from dlbrt.core.strategy import Clocked, Situation, Strategy
from dlbrt.records import dataclass

__all__ = ["STRATEGY"]


@dataclass(frozen=True, slots=True)
class _Static:
    name: str = "none"
    local: bool = False
    central: bool = False
    interrupts: bool = False
    foresees: bool = False
    clocked: Clocked = Clocked.NEVER

    def decide(self, situation: Situation) -> Decision | None:  # noqa: ARG002
        return None


STRATEGY: Strategy = _Static()
