"""What stands in the loop for a name that iterations update: it logs operands instead of computing.

``s += e``, ``s = s + e``, ``s = e + s``, ``s = max(s, e)``: every operation appends (operation, operand) to
the log and gives the stand-in back, which the name is then bound to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dlbrt.effects.operations import (
    IMMUTABLE,
    MAX,
    MAX_REFLECTED,
    MIN,
    MIN_REFLECTED,
    NAMES,
    StandIn,
    kept,
    known,
)

__all__ = ["LoggingAccumulator", "LoggingExtremum"]

Append = Callable[[tuple[Any, ...]], None]

#: Types whose values, compared among themselves, are in a total order, NaN apart.
_ORDERED = frozenset({int, float, str, bytes, np.float64, np.float32, np.int64, np.int32})


class LoggingAccumulator(StandIn):
    """Stands for a number, text, list, set or array to which operands are added, multiplied, ..."""

    __slots__ = ("_append", "_code")

    def __init__(self, append: Append, code: int) -> None:
        self._append = append
        self._code = code


def _logging(operation: int, sign: str) -> Any:
    def method(self: LoggingAccumulator, operand: Any) -> LoggingAccumulator:
        if type(operand) not in IMMUTABLE:
            operand = kept(operand, sign)
        self._append((self._code + operation, operand))
        return self

    return method


for _name, _number in NAMES.items():
    setattr(LoggingAccumulator, _name, _logging(_number, "+" if _number < 3 else ""))


class LoggingExtremum(StandIn):
    """Stands for a maximum or minimum.

    ``max`` and ``min`` compare; the comparison logs the value, and its outcome lets them return the
    stand-in. A value that does not beat one logged before it in the same run cannot change the result, and
    is dropped. What was compared, and on which side, tells the spelling: ``max(s, e)`` asks ``e > s``,
    ``max(e, s)`` asks ``s > e``; they differ where values are equal, or NaN: ``max(s, e)`` keeps an s that
    is NaN for good, ``max(e, s)`` never does, so it drops values only once s is known to be a number.
    Where iterations of other ranks come in between (not ``stretch``) any of them may have made s NaN and then
    another number: nothing is dropped.
    """

    __slots__ = ("_append", "_best", "_code", "_kind", "_max", "_stretch", "_sure")

    def __init__(self, append: Append, code: int, sign: str, stretch: bool = True) -> None:
        self._append = append
        self._code = code
        self._max = sign == "max"
        self._stretch = stretch
        self._kind: type | None = None
        self._best: Any = None
        self._sure = False  # that the value is a number, no worse than the best

    def __lt__(self, value: Any) -> bool:
        if self._max:  # max(s, e): e > s, answered from this side
            if type(value) is not self._kind or value > self._best:
                self._log(MAX, value)
            return False
        if type(value) is not self._kind or not (self._sure and self._best < value):
            self._sure = True  # min(e, s): s < e
            self._log(MIN_REFLECTED, value)
        return True

    def __gt__(self, value: Any) -> bool:
        if not self._max:  # min(s, e): e < s, answered from this side
            if type(value) is not self._kind or value < self._best:
                self._log(MIN, value)
            return False
        if type(value) is not self._kind or not (self._sure and self._best > value):
            self._sure = True  # max(e, s): s > e
            self._log(MAX_REFLECTED, value)
        return True

    def _log(self, operation: int, value: Any) -> None:
        if self._stretch and type(value) in _ORDERED and value == value:
            self._kind, self._best = type(value), value
        else:
            self._kind = None
            self._sure = False
            known(value)
        self._append((self._code + operation, value))
