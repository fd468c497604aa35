"""Cumulative work t(x) over a domain, and the faults of a t that cannot be cut.

Swartz, section 2: t(x) is the time needed for the part of the domain below x, so it does not decrease, and TT
= t(x_max). Only differences of t count, and a constant factor (the paper's A) divides out, so any unit will
do. If t has no meaning at the domain's lower end, the work there is given apart from t: the sieve's t(x) =
x^1.43 / (ln x - 1.08366) has a pole at 2.96 and increases only from 5.95 on, and the paper counts from 0
(`CumulativeWork.start`) whatever t is at the first number.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dlbrt.data.layout import Floats
from dlbrt.records import dataclass

#: A vectorized function: maps a float or a float64 array to numbers of the same shape (or one number).
Curve = Callable[[Any], Any]

#: A decrease of t below this part of its largest magnitude is rounding, not a fault.
ROUNDING = 1e-12


class WorkFault(Enum):
    """What is wrong with a work function."""

    NOT_A_NUMBER = "is not a number"
    INFINITE = "is infinite"
    NEGATIVE = "is negative"
    DECREASING = "decreases"
    NONE_AT_ALL = "is zero everywhere"


class WorkError(ValueError):
    """Work that cannot be cut.

    ``place`` is the x (or the position of the iteration) of the ``fault``. ``increases_from``, for a
    cumulative work that decreases only at first, is the least sampled x from which it increases
    (`CumulativeWork.increasing_from`).
    """

    def __init__(
        self, fault: WorkFault, place: float, found: str, increases_from: float | None = None
    ) -> None:
        self.fault = fault
        self.place = place
        self.increases_from = increases_from
        self.found = found
        later = f"; it increases from {increases_from:.6g} on" if increases_from is not None else ""
        super().__init__(f"the work {fault.value} at {place:.12g}: {found}{later}")

    def __reduce__(self) -> tuple[type[WorkError], tuple[WorkFault, float, str, float | None]]:
        """Pickled with all fields, since it may be sent from rank to rank."""
        return type(self), (self.fault, self.place, self.found, self.increases_from)


@dataclass(frozen=True, slots=True)
class CumulativeWork:
    """Cumulative work t(x), any unit, for low <= x <= high.

    ``derivative`` is t'(x), the time density, if it is known.
    ``start`` is the work at ``low``, by default t(low). ``increasing_from`` is the x_L of the paper's
    appendix A: below it t is not evaluated, and work grows linearly from ``start`` to t(x_L). ValueError for
    a domain that is empty or not finite, or an x_L outside it.
    """

    t: Curve
    low: float
    high: float
    derivative: Curve | None = None
    start: float | None = None
    increasing_from: float | None = None

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise ValueError(f"expected a finite domain with low < high, found [{self.low}, {self.high}]")
        if not self.low <= self.left < self.high:
            raise ValueError(f"expected {self.low} <= increasing_from < {self.high}, found {self.left}")
        if self.start is not None and not isfinite(self.start):
            raise ValueError(f"expected a finite work at {self.low}, found {self.start}")

    @property
    def left(self) -> float:
        """The least x at which t is evaluated."""
        return self.low if self.increasing_from is None else self.increasing_from


def over_positions(t: Curve, loop: range, derivative: Curve | None = None) -> CumulativeWork:
    """The work of a loop's positions 0..n, from a cumulative work t over its variable.

    The iteration with value v stands for the work from v to v + abs(step); with a negative step work is
    counted from the other end. ValueError for an empty loop.
    """
    if not loop:
        raise ValueError("expected a loop of at least one iteration, found an empty range")
    step = abs(loop.step)
    first, sign = (loop.start, 1) if loop.step > 0 else (loop.start + step, -1)

    def value(position: Any) -> Any:
        return first + sign * step * position

    return CumulativeWork(
        t=lambda k: sign * np.asarray(t(value(k))),
        low=0.0,
        high=float(len(loop)),
        derivative=derivative and (lambda k: step * np.asarray(derivative(value(k)))),
    )


def evaluate(curve: Curve, x: Floats) -> Floats:
    """The curve at an array, as float64 of the same shape; faults show in the values, not as warnings."""
    with np.errstate(all="ignore"):
        found = np.asarray(curve(x), dtype=np.float64)
    return found if found.shape == x.shape else np.broadcast_to(found, x.shape)


def check_increasing(x: Floats, t: Floats) -> None:
    """WorkError if a sampled t is not finite or decreases."""
    finite = np.isfinite(t)
    if not finite.all():
        place = int(np.argmin(finite))
        fault = WorkFault.NOT_A_NUMBER if np.isnan(t[place]) else WorkFault.INFINITE
        raise WorkError(fault, float(x[place]), f"t = {t[place]}", _increases_from(x, t))
    falls = ~(np.diff(t) >= -ROUNDING * float(np.abs(t).max()))
    if falls.any():
        place = int(np.argmax(falls))
        found = f"t({x[place]:.12g}) = {t[place]:.6g}, t({x[place + 1]:.12g}) = {t[place + 1]:.6g}"
        raise WorkError(WorkFault.DECREASING, float(x[place]), found, _increases_from(x, t))


def _increases_from(x: Floats, t: Floats) -> float | None:
    """A sample from which t is finite and increases to the end, if that is more than half of the domain.

    The least t may lie just above the first such sample, so the next sample is taken.
    """
    with np.errstate(invalid="ignore"):
        rise = np.diff(t)
    bad = ~(np.isfinite(rise) & (rise >= 0))
    last = int(np.flatnonzero(bad)[-1]) + 2 if bad.any() else 0
    return float(x[last]) if last < len(x) // 2 else None


def checked_density(density: ArrayLike) -> NDArray[Any]:
    """Work per iteration (or group, or cell) as an array of integers or float64, of any shape.

    WorkError at the first element, in row-major order, that is NaN, infinite or negative, or if all are zero;
    its place is the flat position.
    """
    found = np.asarray(density)
    if found.dtype.kind not in "iub":
        found = found.astype(np.float64)
    flat = found.reshape(-1)
    for fault, bad in (
        (WorkFault.NOT_A_NUMBER, np.isnan(flat)),
        (WorkFault.INFINITE, np.isinf(flat)),
        (WorkFault.NEGATIVE, flat < 0),
    ):
        if bad.any():
            place = int(np.argmax(bad))
            raise WorkError(fault, place, f"expected a number of 0 or more, found {flat[place]}")
    if not flat.any():
        raise WorkError(WorkFault.NONE_AT_ALL, 0, f"expected some work in {len(flat)} places")
    return found
