"""Figure 10: speeds like a saw's teeth, fitted by a restricted shape and by Akima's spline (section 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.speed.models import SpeedModels
from dlbrt.speed.points import ModelKind, SpeedPoints
from numpy.typing import ArrayLike

from papers.clarke.convergence import LEARNING

__all__ = ["SIZES", "fitted", "ratios", "sawtooth"]

#: The highest speed, units from tooth to tooth, what is lost along one.
TEETH = ((3.6, 420.0, 0.35), (3.0, 510.0, 0.3), (3.4, 610.0, 0.25), (3.4, 330.0, 0.4))
SIZES = range(1500, 9000, 150)
_UNITS = np.arange(60, 60 * 64, 60)


def sawtooth(sizes: ArrayLike, top: float, period: float, depth: float) -> Floats:
    """Speeds that rise in a step where blocks fit the cache again, as of Netlib's BLAS (figure 10)."""
    return np.asarray(top * (1 - depth * (np.asarray(sizes) / period % 1.0)), dtype=np.float64)


def fitted(model: ModelKind) -> SpeedModels:
    """Functions made of 63 points a processor."""
    known = [
        SpeedPoints(tuple(_UNITS.tolist()), tuple(sawtooth(_UNITS.astype(float), *tooth).tolist()))
        for tooth in TEETH
    ]
    return SpeedModels(len(TEETH), model, known)


def ratios() -> Floats:
    """How many times longer partitions by restricted shapes take than by splines, for each of `SIZES`."""
    restricted, akima = map(fitted, LEARNING)
    return np.array(
        [_makespan(restricted.partition(n).counts) / _makespan(akima.partition(n).counts) for n in SIZES]
    )


def _makespan(counts: Sequence[int]) -> float:
    return max(
        count / float(sawtooth(np.float64(count), *tooth)) for count, tooth in zip(counts, TEETH, strict=True)
    )
