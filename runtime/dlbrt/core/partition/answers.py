"""What a cost expression gave: a work, many of them, or why it is none.

Works are finite real numbers of 0 or more. Anything that converts to a float without loss of meaning is taken
(fractions, decimals, NumPy's scalars, truth values), text and complex numbers are not.
"""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np

from dlbrt.core.partition.cost_spec import CostError
from dlbrt.core.partition.work import Floats

__all__ = [
    "RAISED",
    "as_number",
    "checked",
    "first_bad",
    "quiet",
    "raised",
    "shown",
    "spread",
]

#: What an expression of the user's may raise: anything, but for Ctrl-C, which is meant for the program.
RAISED = (Exception, SystemExit, GeneratorExit)

#: Characters of an error's message that are shown.
_LONGEST = 200


@contextmanager
def quiet() -> Iterator[None]:
    """No warning gets out, and none becomes an error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def checked(found: Any, place: str) -> float:
    """What an expression gave, as a work; CostError unless it is a finite number of 0 or more."""
    number = as_number(found)
    if number is None or number != number:
        raise CostError(f"cost is not a number {place}: {shown(found)}")
    if number < 0:
        raise CostError(f"cost is negative {place}: {shown(found)}")
    if number == inf:
        raise CostError(f"cost is infinite {place}: {shown(found)}")
    return number


def shown(value: Any) -> str:
    """A value in a few characters."""
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    try:
        return str(value) if isinstance(value, np.integer) else reprlib.repr(value)
    except RAISED:  # the program's own __repr__ may raise anything
        return f"a value of type {type(value).__name__}"


def raised(subject: str, error: BaseException, place: str) -> CostError:
    """That the expression raised an error, with the first line of its message."""
    try:
        words = str(error).partition("\n")[0][:_LONGEST]
    except RAISED:  # the program's own __str__ may raise anything
        words = ""
    where = place and f" {place}"
    return CostError(f"{subject} raises {type(error).__name__}{where}{words and ': '}{words}")


def as_number(found: Any) -> float | None:
    """A real number as a float, infinite where it is too large for one; None if it is no number."""
    if isinstance(found, str | bytes | bytearray | np.complexfloating) or getattr(found, "ndim", None):
        return None
    try:
        return float(found)
    except OverflowError:
        return inf if found > 0 else -inf
    except RAISED:  # the conversions of the program's own classes may raise anything
        return None


def spread(found: Any, count: int) -> Floats | None:
    """One number, or a vector of them, as ``count`` floats; None if it is anything else."""
    try:
        array = np.asarray(found)
        if array.dtype.kind == "O":
            array = np.array([as_number(x) for x in array.flat], np.float64).reshape(array.shape)
    except (TypeError, ValueError):  # ragged lists, and what is no number
        return None
    if array.dtype.kind not in "biuf" or array.shape not in ((), (count,)):
        return None
    return np.broadcast_to(array.astype(np.float64), (count,))


def first_bad(works: Floats) -> list[int]:
    """The place of the first work that is not finite or is negative, if there is one."""
    good = (works >= 0) & (works < inf)
    return [] if good.all() else [int(np.argmin(good))]
