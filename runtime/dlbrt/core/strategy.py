"""What a strategy is: among whom it balances, where it decides, whether it interrupts, and the new shares."""

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

    ``remaining`` is work in ticks, ``reserved`` the part of it that stays where it is; ``speeds`` are ticks
    a second; ``unit`` is the mean work of what is dealt, 1 where all cost the same; ``exchange_s`` and
    ``unit_move_s`` are the measured costs of a synchronization and of moving one unit's data.
    """

    remaining: Sequence[int]
    reserved: Sequence[int]
    speeds: Sequence[float]
    exchange_s: float
    unit: float
    unit_move_s: float
    parameters: Parameters


class Strategy(Protocol):
    """A strategy is a name, three habits, and a rule for new shares.

    It balances among all ranks or within groups (`local`); it decides at one balancer (`central`) or at all
    of them alike. The attribute ``STRATEGY`` of a module in `dlbrt.core.strategies` is one.
    """

    @property
    def name(self) -> str:
        """Its name in the contract."""

    @property
    def local(self) -> bool:
        """Whether each group balances for itself."""

    @property
    def central(self) -> bool:
        """Whether rank 0 decides for all, and profiles go there."""

    @property
    def interrupts(self) -> bool:
        """Whether a rank out of work interrupts the others."""

    def decide(self, situation: Situation) -> Decision | None:
        """The new shares, or None to leave the work where it is."""
