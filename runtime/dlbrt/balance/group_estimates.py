"""What follows from who holds what and how fast each is, for all that ask it of the same books.

Each member asks, after each synchronization: when are the others due, how slow is the slowest of them. Found
anew for each, that takes a group of P members P^2 steps. It is always a maximum over all places but that of
who asks, so the two largest answer everybody; they are found once, when first asked for. The values are those
of the maximum over the others, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import count
from operator import add, truediv

from dlbrt.balance.messages import Profile
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import WorkTable

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


# ------------------------------------------------------------------------------
# Speeds from profiles: the last window where it is long enough to mean something, else all of them.


class SpeedHistory:
    """What each of ``ranks`` ranks did in the windows so far, and the speeds that follow.

    The metric is work a second since the last synchronization: iterations (Zaki et al., section 1.2), or
    ticks where they do not cost the same. A window below ``least_sample_s`` seconds of computing is noise:
    the rank's whole history stands in; a rank without any takes the mean of the others.
    """

    def __init__(self, ranks: int, least_sample_s: float) -> None:
        self._least_sample_s = least_sample_s
        self._work = [0] * ranks
        self._compute_s = [0.0] * ranks
        self.speeds: tuple[float, ...] | None = None

    def add(self, profiles: Sequence[Profile], work: Sequence[int]) -> None:
        """Take in one window's profiles, and how much work what they say is done was.

        Updates `speeds` (None until any rank has done anything).
        """
        seconds = [profile.compute_s for profile in profiles]
        self._work = list(map(add, self._work, work))
        self._compute_s = list(map(add, self._compute_s, seconds))
        self.speeds = _completed(list(map(self._speed, count(), work, seconds))) or self.speeds

    @property
    def computed_s(self) -> float:
        """For how long the rank that has computed most has done so."""
        return max(self._compute_s)

    def of(self, places: Sequence[int]) -> SpeedHistory:
        """The same of some of the ranks."""
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
    ) -> SpeedHistory:
        """That of ranks of which each has done so much in so many seconds, the speeds not all known."""
        whole = cls(len(work), least_sample_s)
        whole._work, whole._compute_s = list(work), list(compute_s)
        whole.speeds = _completed(speeds)
        return whole

    @property
    def totals(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The work of each rank, and the seconds of computing that it took."""
        return tuple(self._work), tuple(self._compute_s)

    def _speed(self, rank: int, work: int, seconds: float) -> float | None:
        if work and seconds >= self._least_sample_s:
            return work / seconds
        if self._work[rank] and self._compute_s[rank] > 0:
            return self._work[rank] / self._compute_s[rank]
        return None


def _completed(known: Sequence[float | None]) -> tuple[float, ...] | None:
    """The speeds, the mean of the others where one is not known; None if none is."""
    measured = [speed for speed in known if speed is not None]
    if not measured:
        return None
    mean = sum(measured) / len(measured)
    return tuple(mean if speed is None else speed for speed in known)
