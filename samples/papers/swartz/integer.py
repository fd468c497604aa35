"""Integer boundaries as the paper rounds them, and how long the parts between them take.

`snapped` rounds the real boundaries of a `Cutter` to the nearer by work of the two positions beside: the
largest part is then above the mean by at most the work of one iteration; `nearest` does it for one. A run
takes the best of all those positions (`dlbrt.partition.integer.settled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, inf

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.partition.integer import Numbers
from dlbrt.partition.work import Curve, evaluate
from numpy.typing import NDArray

__all__ = ["largest_part", "nearest", "parts", "snapped"]


def parts(prefix: Numbers, bounds: Sequence[int]) -> Numbers:
    """The work of each part."""
    return np.diff(prefix[np.asarray(bounds)])


def largest_part(prefix: Numbers, bounds: Sequence[int], speeds: Sequence[float] | None = None) -> float:
    """The time of the part that takes longest: its work over its speed (default 1)."""
    work = parts(prefix, bounds)
    return max(_seconds(w, s) for w, s in zip(work.tolist(), speeds or [1.0] * len(work), strict=True))


def snapped(cuts: Floats, t: Curve) -> NDArray[np.int64]:
    """Real boundaries in positions 0..n rounded to integers, each to the nearer by the work t; vectorised.

    ``t`` is the cumulative work over positions (`work.over_positions`). The ends stay.
    """
    low, high = np.floor(cuts), np.ceil(cuts)
    at = evaluate(t, cuts)
    up = evaluate(t, high) - at < at - evaluate(t, low)
    return np.maximum.accumulate(np.where(up, high, low).astype(np.int64))


def nearest(cut: float, t: Curve) -> int:
    """One boundary rounded as by `snapped`: the same on every rank that has the same ``cut``."""
    low, high = float(floor(cut)), float(ceil(cut))
    below, at, above = (float(t(np.float64(x))) for x in (low, cut, high))
    return int(high if above - at < at - below else low)


def _seconds(work: float, speed: float) -> float:
    if speed > 0:
        return work / speed
    return inf if work > 0 else 0.0
