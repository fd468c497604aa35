"""Speed against size, as in Clarke, Lastovetsky and Rychkov (figures 5, 9 and 12), as numbers to draw.

For each rank the points measured, the function made of them, and its units in the partition; and the line
through the origin that ends at the partition: all sizes that take as long. Where it meets the functions, all
ranks take the same time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dlbrt.records import dataclass
from dlbrt.speed.models import SpeedModels
from dlbrt.speed.points import SpeedPoints

__all__ = ["Figure", "SpeedCurve", "figure"]


@dataclass(frozen=True, slots=True)
class SpeedCurve:
    """One rank: what was measured, the function at ``units`` (x) in units a second (y), and its share."""

    points: SpeedPoints
    units: tuple[float, ...]
    speeds: tuple[float, ...]
    share: int
    share_speed: float


@dataclass(frozen=True, slots=True)
class Figure:
    """The curves of all ranks, and the seconds of a pass: its line is speed = units / seconds."""

    n: int
    seconds: float
    curves: tuple[SpeedCurve, ...]


def figure(
    models: SpeedModels, n: int, counts: Sequence[int] | None = None, samples: int = 200
) -> Figure | None:
    """The figure of ``n`` units, divided as ``counts`` or as the functions say; None if nothing is known.

    Functions are sampled at so many sizes (2 or more) between 0 and twice the largest share, or n if less.
    """
    if not models.any or n < 1:
        return None
    shares = models.partition(n).counts if counts is None else tuple(counts)
    functions = models.functions(n)
    sizes = np.linspace(0, min(n, 2 * max(shares)), samples)
    values = np.array([functions.speeds(np.full(models.ranks, size)) for size in sizes])
    at_shares = functions.speeds(np.asarray(shares, dtype=np.float64))
    curves = tuple(
        SpeedCurve(points, tuple(sizes.tolist()), tuple(speeds), share, float(speed))
        for points, speeds, share, speed in zip(
            models.points, values.T.tolist(), shares, at_shares, strict=True
        )
    )
    return Figure(n, float(models.predicted(shares).max()), curves)
