"""Speeds from profiles: the last window where it is long enough to mean something, else all of them."""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.core.profile import Profile

__all__ = ["History"]


class History:
    """What each of ``ranks`` ranks did in the windows so far, and the speeds that follow.

    The metric is iterations a second since the last synchronization (Zaki et al., section 1.2). A
    window below ``least_sample_s`` seconds of computing is noise: the rank's whole history stands in;
    a rank without any takes the mean of the others.
    """

    def __init__(self, ranks: int, least_sample_s: float) -> None:
        self._least_sample_s = least_sample_s
        self._done = [0] * ranks
        self._compute_s = [0.0] * ranks
        self.speeds: tuple[float, ...] | None = None

    def add(self, profiles: Sequence[Profile]) -> None:
        """Take in one window's profiles and update `speeds` (None until any rank has done anything)."""
        for rank, profile in enumerate(profiles):
            self._done[rank] += profile.done
            self._compute_s[rank] += profile.compute_s
        known = [self._speed(rank, profile) for rank, profile in enumerate(profiles)]
        measured = [speed for speed in known if speed is not None]
        if measured:
            mean = sum(measured) / len(measured)
            self.speeds = tuple(mean if speed is None else speed for speed in known)

    def _speed(self, rank: int, profile: Profile) -> float | None:
        if profile.done and profile.compute_s >= self._least_sample_s:
            return profile.done / profile.compute_s
        if self._done[rank] and self._compute_s[rank] > 0:
            return self._done[rank] / self._compute_s[rank]
        return None
