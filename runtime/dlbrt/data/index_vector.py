"""All values of an index variable at once, for subscripts that mean the same for one value and for many.

A subscript such as ``ptr[i + 1]`` is evaluated for all iterations by giving it a vector for ``i``. That is
right only where a vector computes, element by element, what Python's integers compute. So the vector knows
its bounds and refuses arithmetic that could leave 64 bits, and everything that a plain integer does
differently: truth, comparison, hashing, mixing with narrower integers of numpy. What is refused is evaluated
value by value instead.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

IntegerArray = np.ndarray[Any, np.dtype[np.int64]]

#: Magnitudes stay below this, so that no operation on two values leaves 64 bits unnoticed.
_LIMIT = 1 << 62
_LONGEST_SHIFT = 62


def _operators(operation: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """The methods for ``vector operation other`` and for the reflected ``other operation vector``."""
    return (lambda self, other: _combined(operation, self, other)), (
        lambda self, other: _combined(operation, other, self)
    )


class IndexVector:
    """Integers, one for each position, that either behave like a single integer or raise TypeError."""

    __slots__ = ("high", "low", "values")
    __array_ufunc__ = None
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, values: IntegerArray) -> None:
        self.values = values
        self.low, self.high = int(values.min()), int(values.max())
        if self.low <= -_LIMIT or self.high >= _LIMIT:
            raise TypeError("the values are too large for a vector")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> IntegerArray:
        return self.values

    __add__, __radd__ = _operators(operator.add)
    __sub__, __rsub__ = _operators(operator.sub)
    __mul__, __rmul__ = _operators(operator.mul)
    __floordiv__, __rfloordiv__ = _operators(operator.floordiv)
    __mod__, __rmod__ = _operators(operator.mod)

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) is not int or not 0 <= exponent <= _LONGEST_SHIFT:
            raise TypeError(f"cannot raise a vector to {exponent!r}")
        power = IndexVector(np.ones_like(self.values))
        for _ in range(exponent):
            power = _combined(operator.mul, power, self)
        return power

    def __lshift__(self, places: Any) -> Any:
        return _combined(operator.mul, self, 1 << _places(places))

    def __rshift__(self, places: Any) -> IndexVector:
        return IndexVector(self.values >> _places(places))

    def __neg__(self) -> IndexVector:
        return IndexVector(-self.values)

    def __pos__(self) -> IndexVector:
        return self

    def __invert__(self) -> IndexVector:
        return IndexVector(~self.values)

    def __abs__(self) -> IndexVector:
        return IndexVector(abs(self.values))

    def __bool__(self) -> NoReturn:
        raise TypeError("a vector has no truth")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("a vector cannot be compared")

    __ne__ = __eq__


def _places(places: Any) -> int:
    if type(places) is not int or not 0 <= places <= _LONGEST_SHIFT:
        raise TypeError(f"cannot shift a vector by {places!r}")
    return places


def _combined(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """The operation on a vector and another vector, an integer, or 64-bit integers of numpy."""
    other = right if isinstance(left, IndexVector) else left
    if isinstance(other, np.ndarray | np.generic):
        if other.dtype != np.int64:
            raise TypeError(f"integers and {other.dtype} are another type together than one by one")
        return operation(_plain(left), _plain(right))
    ends = [
        (side.low, side.high) if isinstance(side, IndexVector) else (_integer(side), side)
        for side in (left, right)
    ]
    if operation in (operator.floordiv, operator.mod):
        # Quotient and remainder of magnitudes below the limit stay below it. Python raises for a divisor 0.
        if ends[1][0] <= 0 <= ends[1][1]:
            raise TypeError("some divisor may be 0")
    elif any(abs(operation(*corner)) >= _LIMIT for corner in itertools.product(*ends)):
        raise TypeError("some result may pass 64 bits")
    return IndexVector(operation(_plain(left), _plain(right)))


def _plain(side: Any) -> Any:
    return side.values if isinstance(side, IndexVector) else side


def _integer(side: Any) -> int:
    if type(side) is not int or not -_LIMIT < side < _LIMIT:
        raise TypeError(f"cannot combine a vector with {side!r}")
    return side
