"""Identities: objects that a share starts from.

``Identity() + e`` is ``e`` for every type, also -0.0, text, arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dlbrt.reductions import operations
from dlbrt.reductions.proxies import Append

#: Types whose values, except NaN, are totally ordered.
_ORDERED = (int, float, str, bytes, np.integer, np.floating)


class Identity(operations.StandIn):
    """The start of a share by an arithmetic operator; ``mode`` is the form in which it was last applied."""

    __slots__ = ("mode",)

    def __init__(self) -> None:
        self.mode = 0


def _starting(mode: int) -> Any:
    def method(self: Identity, operand: Any) -> Any:
        self.mode = mode
        return operand if type(operand) in operations.IMMUTABLE else operations.kept(operand)

    return method


for _name, _number in operations.NAMES.items():
    if _name.strip("_") not in ("sub", "isub", "rsub"):
        setattr(Identity, _name, _starting(_number % 3))


class BooleanIdentity(operations.StandIn):
    """The start of ``s and e`` (true) or ``s or e`` (false), for which the outcome is e."""

    __slots__ = ("_is",)

    def __init__(self, is_true: bool) -> None:
        self._is = is_true

    def __bool__(self) -> bool:
        return self._is


class ExtremumIdentity(operations.StandIn):
    """The start of a selection: every value except NaN beats it in ``new < best`` and the like."""

    __slots__ = ()

    def _beats(self, value: Any) -> bool:
        if not has_order(value):
            raise operations.MisuseError(
                f"a selection compares {type(value).__name__}, which has no total order"
            )
        return bool(value == value)

    __lt__ = __le__ = __gt__ = __ge__ = _beats


class FirstValue(ExtremumIdentity):
    """The start of a selection from None, which takes the first value even if it is NaN.

    Only at the start of the loop is that value surely the first one. Elsewhere NaN is passed over, and
    logged, since it matters if no iteration before has offered a value.
    """

    __slots__ = ("_append", "_at_start", "_code")

    def __init__(self, append: Append, code: int, *, at_start: bool) -> None:
        self._append = append
        self._at_start = at_start
        self._code = code

    def _beats(self, value: Any) -> bool:
        if super()._beats(value) or self._at_start:
            return True
        self._append((self._code + operations.SELECT, value, None))
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _beats


def has_order(value: Any) -> bool:
    """Whether the best of parts is the best of all: numbers, text, and tuples of them without NaN."""
    if type(value) is tuple:
        return all(has_order(item) and item == item for item in value)
    if isinstance(value, _ORDERED):
        return True
    return type(value).__module__ in ("fractions", "decimal", "_decimal", "_pydecimal", "datetime")
