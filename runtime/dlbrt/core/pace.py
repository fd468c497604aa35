"""How a rank's speed has changed since the loop was shared: work done over computing time, by slices.

Zaki, Li, Parthasarathy, section 1.3.3: the load seen so far goes into the model. Ranks compute in chunks of
about a millisecond, so the record is thinned as it grows: it stays within twice `_MAX_POINTS` points.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from dlbrt.core.profile import SLICES
from dlbrt.dist.amounts import WorkTable
from dlbrt.dist.spans import Spans

__all__ = ["UNKNOWN", "ProgressSamples", "SpeedTrace"]

#: What is said where nothing was measured.
UNKNOWN = (0.0,) * SLICES

_MAX_POINTS = 256

#: Looks that are remembered of what is reported at once.
_MAX_SAMPLES = 64


class ProgressSamples:
    """How a stretch of units went that is reported at once: ``samples`` are (units done, seconds) up to each.

    It is thinned as it grows: it stays within `_MAX_SAMPLES` looks.
    """

    def __init__(self) -> None:
        self.samples: list[tuple[int, float]] = []
        self._every = self._left = 1

    def add(self, units: int, seconds: float) -> None:
        """So many were done by now."""
        self._left -= 1
        if self._left:
            return
        self.samples.append((units, seconds))
        if len(self.samples) > _MAX_SAMPLES:
            del self.samples[::2]
            self._every *= 2
        self._left = self._every


class SpeedTrace:
    """Cumulative work over cumulative computing time."""

    def __init__(self) -> None:
        self._times, self._work = [0.0], [0.0]

    def add(self, work: float, seconds: float) -> None:
        """So much was done in so many seconds of computing."""
        self._times.append(self._times[-1] + seconds)
        self._work.append(self._work[-1] + work)
        if len(self._times) > 2 * _MAX_POINTS:
            self._times[1:-1], self._work[1:-1] = self._times[2:-1:2], self._work[2:-1:2]

    def add_progress(self, did: Spans, work_table: WorkTable, progress: Iterable[tuple[int, float]]) -> None:
        """Of the units ``did`` so many were done in so many seconds, by the looks of the course."""
        before, before_s = 0, 0.0
        for units, seconds in progress:
            work = work_table.of(did.first(units)[0])
            if seconds > before_s:
                self.add(work - before, seconds - before_s)
                before, before_s = work, seconds

    def slices(self) -> tuple[float, ...]:
        """The speed in each of `SLICES` parts of the time; zeros where there was none."""
        total_s = self._times[-1]
        if total_s <= 0:
            return UNKNOWN
        edges = np.linspace(0.0, total_s, SLICES + 1)
        work = np.interp(edges, self._times, self._work).tolist()
        return tuple((after - before) * SLICES / total_s for before, after in pairwise(work))
