"""Objects that a share starts from: ``IDENTITY + e`` is ``e`` for every type, -0.0, text, arrays too."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlbrt.effects.operations import IMMUTABLE, NAMES, MisuseError, StandIn, kept

__all__ = ["BooleanIdentity", "ExtremumIdentity", "Identity", "has_order"]

#: Types of which any two values compare as a total order, NaN apart.
_ORDERED = (int, float, str, bytes, np.integer, np.floating)


class Identity(StandIn):
    """The start of a share by an arithmetic operator; ``mode`` tells how it was last used."""

    __slots__ = ("mode",)

    def __init__(self) -> None:
        self.mode = 0


def _starting(mode: int) -> Any:
    def method(self: Identity, operand: Any) -> Any:
        self.mode = mode
        return operand if type(operand) in IMMUTABLE else kept(operand)

    return method


for _name, _number in NAMES.items():
    if _name.strip("_") not in ("sub", "isub", "rsub"):
        setattr(Identity, _name, _starting(_number % 3))


class BooleanIdentity(StandIn):
    """The start of ``s and e`` (true) or ``s or e`` (false): the outcome is e."""

    __slots__ = ("_is",)

    def __init__(self, is_true: bool) -> None:
        self._is = is_true

    def __bool__(self) -> bool:
        return self._is


class ExtremumIdentity(StandIn):
    """What every value beats in ``new < best`` and its like, except NaN."""

    __slots__ = ()

    def _beats(self, value: Any) -> bool:
        if not has_order(value):
            raise MisuseError(f"values of {type(value).__name__} are selected from that have no total order")
        return bool(value == value)

    __lt__ = __le__ = __gt__ = __ge__ = _beats


def has_order(value: Any) -> bool:
    """Whether the best of parts is the best of all: numbers, text, tuples of them without NaN within."""
    if type(value) is tuple:
        return all(has_order(item) and item == item for item in value)
    if isinstance(value, _ORDERED):
        return True
    return type(value).__module__ in ("fractions", "decimal", "_decimal", "_pydecimal", "datetime")
