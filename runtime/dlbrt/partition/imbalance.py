"""Measures of load imbalance from the times of the processors (Swartz, section 2, equations 2, 3; section 6).

The paper uses two definitions: equation (2) divides by the mean time, its first example (28.56 %) by the
largest time. Equation (2) is `inefficiency`; the other is `idle_share`, the part of the processors' time that
is idle. The efficiency by (3) is negative if the largest time is more than twice the mean.

Times are seconds (or any unit), one per processor: at least one, finite, 0 or more, else ValueError.
If all times are 0, every imbalance is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dlbrt.data.layout import Floats


def inefficiency(times: ArrayLike) -> float:
    """L_I in percent: (T_max - T_avg) / T_avg * 100 (equation 2)."""
    found = _checked(times)
    return _ratio(float(found.max()) - float(found.mean()), float(found.mean())) * 100


def efficiency(times: ArrayLike) -> float:
    """L_E in percent: 100 - L_I (equation 3)."""
    return 100 - inefficiency(times)


def idle_share(times: ArrayLike) -> float:
    """The T_max variant in percent: (T_max - T_avg) / T_max * 100, as in the example of section 3."""
    found = _checked(times)
    return _ratio(float(found.max()) - float(found.mean()), float(found.max())) * 100


def drift(times: ArrayLike) -> float:
    """(T_max - T_min) / T_avg, a ratio: what section 6 compares with a threshold."""
    found = _checked(times)
    return _ratio(float(found.max()) - float(found.min()), float(found.mean()))


def _checked(times: ArrayLike) -> Floats:
    found = np.asarray(times, dtype=np.float64).reshape(-1)
    if not len(found) or not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(f"expected a time of 0 or more for each of at least 1 processor, found {found}")
    return found


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
