"""What became of each window: a record for statistics and traces, and what a redistribution was worth.

Whether moving work paid shows only afterwards. The decision predicts, by the speeds of the window that ended,
when all would be done without moving and with it; the window that follows shows the speeds that came. At
those both are computed again: the realised gain. What moving itself cost is taken as predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import truediv

from dlbrt.core.decision import Decision
from dlbrt.core.profile import Profile
from dlbrt.records import dataclass

__all__ = ["MovedWork", "RedistributionGain", "Window"]


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a group, from one synchronization to the next.

    ``units`` (iterations, or pairs) were done by each of the ``members`` in ``compute_s`` seconds.
    ``verdict`` is what was then decided, empty where nothing was. ``moved`` units changed hands;
    ``predicted_s`` and ``realised_s`` are how many seconds that gained, None where nothing moved, or the
    group parted then.
    """

    epoch: int
    members: tuple[int, ...]
    units: tuple[int, ...]
    compute_s: tuple[float, ...]
    verdict: str = ""
    moved: int = 0
    predicted_s: float | None = None
    realised_s: float | None = None

    @classmethod
    def closed(cls, epoch: int, members: tuple[int, ...], profiles: Sequence[Profile]) -> Window:
        """A window by the profiles that ended it."""
        return cls(epoch, members, tuple(p.done for p in profiles), tuple(p.compute_s for p in profiles))


@dataclass(frozen=True, slots=True)
class RedistributionGain:
    """Seconds that redistributions gained, as predicted and as it turned out, of those where that is seen."""

    redistributions: int = 0
    predicted_s: float = 0.0
    realised_s: float = 0.0

    def __add__(self, other: RedistributionGain) -> RedistributionGain:
        return RedistributionGain(
            self.redistributions + other.redistributions,
            self.predicted_s + other.predicted_s,
            self.realised_s + other.realised_s,
        )


@dataclass(frozen=True, slots=True)
class MovedWork:
    """A redistribution: the work of each member before and after it, and what moving costs."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    costs_s: float

    @classmethod
    def by(
        cls, decision: Decision, after: Sequence[int], before: Sequence[int], speeds: Sequence[float]
    ) -> MovedWork:
        """What a decision by these speeds came to in whole units."""
        return cls(tuple(before), tuple(after), decision.after_s - _longest_s(decision.shares, speeds))

    def gain_s(self, speeds: Sequence[float]) -> float:
        """The seconds it gains at these speeds, its costs deducted; below 0 where it was a loss."""
        return _longest_s(self.before, speeds) - _longest_s(self.after, speeds) - self.costs_s


def _longest_s(work: Sequence[int], speeds: Sequence[float]) -> float:
    return float(max(map(truediv, work, speeds)))
