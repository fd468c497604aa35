"""``GDDLB``, global distributed (Zaki et al., section 1.2.1).

The first rank to finish interrupts all others; profiles are exchanged all to all; the balancer is
replicated, so that every rank computes the same new shares and no instructions are sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlbrt.core.decision import Decision, decide
from dlbrt.core.strategy import Situation, Strategy

__all__ = ["STRATEGY"]


@dataclass(frozen=True, slots=True)
class _GlobalDistributed:
    name: str = "GDDLB"
    interrupts: bool = True

    def decide(self, situation: Situation) -> Decision | None:
        return decide(
            situation.remaining,
            situation.reserved,
            situation.speeds,
            situation.parameters,
            exchange_s=situation.exchange_s,
            unit=situation.unit,
            unit_move_s=situation.unit_move_s,
        )


STRATEGY: Strategy = _GlobalDistributed()
