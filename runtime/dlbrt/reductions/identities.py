"""Identities: objects that a share starts from.

``Identity() + e`` is ``e`` for every type, also -0.0, text, arrays.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from dlbrt.reductions import operations
from dlbrt.reductions.kinds import key_of
from dlbrt.reductions.proxies import Append

#: Types whose values, except NaN, are totally ordered.
_ORDERED = (int, float, str, bytes, np.integer, np.floating, np.bool_)


class Identity(operations.StandIn):
    """The start of a share by an arithmetic operator; ``mode`` is the form in which it was last applied.

    ``code`` is that of the plain form in the log, where operands of certain ``types`` are refused.
    """

    __slots__ = ("code", "mode", "types")

    def __init__(self, code: int = 0, types: operations.OperandTypes = operations.ANY_OPERANDS) -> None:
        self.mode = 0
        self.code = code
        self.types = types


def _starting(mode: int) -> Any:
    def method(self: Identity, operand: Any) -> Any:
        self.mode = mode
        if type(operand) in self.types.refused:
            raise operations.RefusedOperandError((self.code + mode, operand))
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
    """The start of a selection: every value except NaN beats it in ``new < best`` and the like.

    It stands for its part ``by`` too, where that is what is compared.
    """

    __slots__ = ("_by", "_code")

    def __init__(self, code: int = 0, by: str = "") -> None:
        self._code, self._by = code, by

    def __getitem__(self, key: Any) -> ExtremumIdentity:
        if not self._by.startswith("[") or key != key_of(self._by):
            self._misused()
        return self

    def __getattr__(self, name: str) -> Any:
        return self if self._by == f".{name}" else super().__getattr__(name)

    def _beats(self, value: Any) -> bool:
        if not has_order(value):
            entry: tuple[Any, ...] = (self._code + operations.SELECT, self._with(value), {})
            raise operations.RefusedOperandError(entry, "has no total order to be selected by", value)
        return bool(value == value)

    def _with(self, value: Any) -> Any:
        """An object that has the value as the part that is compared."""
        if not self._by:
            return value
        return SimpleNamespace(**{self._by[1:]: value}) if self._by[0] == "." else {key_of(self._by): value}

    __lt__ = __le__ = __gt__ = __ge__ = _beats


class FirstValue(ExtremumIdentity):
    """The start of a selection from None, which takes the first value even if it is NaN.

    Only at the start of the loop is that value surely the first one. Elsewhere NaN is passed over, and
    logged, since it matters if no iteration before has offered a value.
    """

    __slots__ = ("_append", "_at_start")

    def __init__(self, append: Append, code: int, by: str = "", *, at_start: bool) -> None:
        super().__init__(code, by)
        self._append = append
        self._at_start = at_start

    def _beats(self, value: Any) -> bool:
        if super()._beats(value) or self._at_start:
            return True
        self._append((self._code + operations.SELECT, self._with(value), None))
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _beats


def has_order(value: Any) -> bool:
    """Whether the best of parts is the best of all: numbers, text, and tuples of them without NaN."""
    if type(value) is tuple:
        return all(has_order(item) and item == item for item in value)
    if isinstance(value, _ORDERED):
        return True
    return type(value).__module__ in ("fractions", "decimal", "_decimal", "_pydecimal", "datetime")
