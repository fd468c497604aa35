"""What a strategy of the global distributed kind decides: whether to interrupt, and the new shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dlbrt.core.decision import Decision
from dlbrt.core.parameters import Parameters

__all__ = ["Situation", "Strategy"]


@dataclass(frozen=True, slots=True)
class Situation:
    """What every rank knows alike at a synchronization; sequences are indexed by rank.

    ``reserved`` are the parts of ``remaining`` that stay where they are; ``speeds`` are iterations a
    second; ``exchange_s`` and ``iteration_move_s`` are the measured costs of a synchronization and of
    moving one iteration's data.
    """

    remaining: Sequence[int]
    reserved: Sequence[int]
    speeds: Sequence[float]
    exchange_s: float
    iteration_move_s: float
    parameters: Parameters


class Strategy(Protocol):
    """A strategy is a name, a habit of interrupting, and a rule for new shares.

    The attribute ``STRATEGY`` of a module in `dlbrt.core.strategies` is one.
    """

    @property
    def name(self) -> str:
        """Its name in the contract."""

    @property
    def interrupts(self) -> bool:
        """Whether a rank out of work interrupts the others."""

    def decide(self, situation: Situation) -> Decision | None:
        """The new shares, or None to leave the work where it is."""
