"""Speeds from profiles: the last window where it is long enough to mean something, else all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from operator import add

from dlbrt.core.profile import Profile

__all__ = ["SpeedHistory"]


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
