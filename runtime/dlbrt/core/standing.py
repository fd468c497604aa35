"""What follows from who holds what and how fast each is, for all that ask it of the same books.

Each member asks, after each synchronization: when are the others due, how slow is the slowest of them. Found
anew for each, that takes a group of P members P^2 steps. It is always a maximum over all places but that of
who asks, so the two largest answer everybody; they are found once, when first asked for. The values are those
of the maximum over the others, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import truediv

from dlbrt.dist.amounts import WorkTable
from dlbrt.dist.spans import Spans

__all__ = ["GroupEstimates"]


#: Where the largest of some values is, that value, and the largest of the others.
_Two = tuple[int, float, float]


class GroupEstimates:
    """What each place of a group holds, ``shares``, and its speed in work a second; None: not known."""

    def __init__(
        self, shares: Sequence[Spans], speeds: Sequence[float] | None, work_table: WorkTable
    ) -> None:
        self.shares = shares
        self.speeds = speeds
        self._work_table = work_table

    @cached_property
    def over(self) -> bool:
        """Whether nobody holds anything."""
        return not any(self.shares)

    @cached_property
    def all_busy(self) -> bool:
        """Whether everybody holds something."""
        return all(self.shares)

    @cached_property
    def mean_unit_work(self) -> float:
        """The mean work of a unit held, in ticks; 1 where all are alike."""
        if self._work_table.uniform:
            return 1.0
        return sum(map(self._work_table.of, self.shares)) / (sum(map(len, self.shares)) or 1) or 1.0

    def slowest_unit_s(self, besides: int) -> float:
        """How long a unit takes the slowest that holds any, one place (-1: none) apart; 0 if nobody does."""
        return _other(self._slowest, besides)

    def due_s(self, besides: int) -> float | None:
        """In how many seconds of computing the last of the others is done; None where that is not known."""
        return None if self.speeds is None else _other(self._last, besides)

    def most_held(self, besides: int) -> float:
        """The most work that one of the others holds."""
        return _other(self._most, besides)

    @cached_property
    def _slowest(self) -> _Two:
        mean_unit_work, held = self.mean_unit_work, zip(self.shares, self.speeds or (), strict=False)
        return _two([mean_unit_work / speed if share.runs else 0.0 for share, speed in held])

    @cached_property
    def _last(self) -> _Two:
        return _two(list(map(truediv, self._held, self.speeds or ())))

    @cached_property
    def _most(self) -> _Two:
        return _two(self._held)

    @cached_property
    def _held(self) -> list[int]:
        return list(map(self._work_table.of, self.shares))


def _two(values: Sequence[float]) -> _Two:
    """The place of the largest, and what it is; the largest of the others, 0 if there is none."""
    largest = max(values, default=0.0)
    place = values.index(largest) if values else -1
    return place, largest, max((*values[:place], *values[place + 1 :]), default=0.0)


def _other(two: _Two, besides: int) -> float:
    """The largest that is not of that place."""
    place, largest, second = two
    return second if place == besides else largest
