"""Estimates from shares and speeds, computed once for all agents of a group state; and measured speeds.

After each synchronization every member needs to know when the others are due, and how slow the slowest of
them is. Computed for each member anew, this takes a group of P members P^2 steps. The answer is always a
maximum over all places but the member's own, so the two largest values answer every member; they are found
when first needed. The answers equal the maximum over the others to the last bit.

A speed is that of the last window where the window is long enough to mean something, otherwise, or where the
user wants it, that of all windows (`SpeedHistory`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import count
from math import inf
from operator import add, truediv

from dlbrt.balance.messages import Profile
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import WorkTable

#: Where the largest of some values is, that value, and the largest of the others.
_Two = tuple[int, float, float]


class GroupEstimates:
    """What follows from the ``shares`` of members and their speeds in work a second (None: unknown)."""

    def __init__(
        self, shares: Sequence[Spans], speeds: Sequence[float] | None, work_table: WorkTable
    ) -> None:
        self.shares = shares
        self.speeds = speeds
        self._work_table = work_table

    @cached_property
    def over(self) -> bool:
        """Whether no member holds anything."""
        return not any(self.shares)

    @cached_property
    def all_busy(self) -> bool:
        """Whether every member holds something."""
        return all(self.shares)

    @cached_property
    def mean_unit_work(self) -> float:
        """The mean work of a unit held, in quanta; 1 where all units are alike."""
        if self._work_table.uniform:
            return 1.0
        return sum(map(self._work_table.of, self.shares)) / (sum(map(len, self.shares)) or 1) or 1.0

    def slowest_unit_s(self, besides: int) -> float:
        """How long a unit takes the slowest holder at another place (-1: at any); 0 if no one holds any."""
        return _other(self._slowest, besides)

    def due_s(self, besides: int) -> float | None:
        """After how many seconds of computing the last of the others is done; None where it is not known."""
        return None if self.speeds is None else _other(self._last, besides)

    def most_held(self, besides: int) -> float:
        """The largest work that one of the others holds."""
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
    """The place of the largest value, the value, and the largest of the others, 0 if there is none."""
    largest = max(values, default=0.0)
    place = values.index(largest) if values else -1
    return place, largest, max((*values[:place], *values[place + 1 :]), default=0.0)


def _other(two: _Two, besides: int) -> float:
    """The largest value at another place."""
    place, largest, second = two
    return second if place == besides else largest


class SpeedHistory:
    """What each of ``ranks`` ranks did in the windows so far, and the speeds that follow.

    The metric is work a second since the last synchronization: iterations (Zaki et al., section 1.2), or
    quanta where iterations do not cost the same. A window below ``least_sample_s`` seconds of computing is
    noise: the rank's whole history stands in; a rank without a history takes the mean of the others. With
    ``whole`` it is always the whole history, the other window of section 1.2.
    """

    def __init__(self, ranks: int, least_sample_s: float, *, whole: bool = False) -> None:
        self._least_sample_s = inf if whole else least_sample_s
        self._work = [0] * ranks
        self._compute_s = [0.0] * ranks
        self.speeds: tuple[float, ...] | None = None

    def add(self, profiles: Sequence[Profile], work: Sequence[int]) -> None:
        """Take in one window's profiles and the work done; `speeds` are None until any rank has done some."""
        seconds = [profile.compute_s for profile in profiles]
        self._work = list(map(add, self._work, work))
        self._compute_s = list(map(add, self._compute_s, seconds))
        self.speeds = _completed(list(map(self._speed, count(), work, seconds))) or self.speeds

    @property
    def computed_s(self) -> float:
        """How long the rank that has computed longest has computed."""
        return max(self._compute_s)

    def of(self, places: Sequence[int]) -> SpeedHistory:
        """The history of some of the ranks."""
        part = SpeedHistory(len(places), self._least_sample_s)
        part._work = [self._work[place] for place in places]
        part._compute_s = [self._compute_s[place] for place in places]
        part.speeds = None if self.speeds is None else tuple(self.speeds[place] for place in places)
        return part

    @classmethod
    def merged(
        cls,
        work: Sequence[int],
        compute_s: Sequence[float],
        speeds: Sequence[float | None],
        least_sample_s: float,
        *,
        whole: bool = False,
    ) -> SpeedHistory:
        """The history of ranks that did ``work`` in ``compute_s``; some of the speeds may be unknown."""
        found = cls(len(work), least_sample_s, whole=whole)
        found._work, found._compute_s = list(work), list(compute_s)
        found.speeds = _completed(speeds)
        return found

    @property
    def totals(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The work of each rank, and its seconds of computing."""
        return tuple(self._work), tuple(self._compute_s)

    def _speed(self, rank: int, work: int, seconds: float) -> float | None:
        if work and seconds >= self._least_sample_s:
            return work / seconds
        if self._work[rank] and self._compute_s[rank] > 0:
            return self._work[rank] / self._compute_s[rank]
        return None


def _completed(known: Sequence[float | None]) -> tuple[float, ...] | None:
    """The speeds, with the mean of the known ones where one is unknown; None if all are unknown."""
    measured = [speed for speed in known if speed is not None]
    if not measured:
        return None
    mean = sum(measured) / len(measured)
    return tuple(mean if speed is None else speed for speed in known)
