"""Helpers that chunk functions call, as Python: this is what they mean, and what they do in uncompiled code.

`lowering` says how they are compiled. Law: for the types that it accepts, the compiled helper returns the
same bits as the function here.

Compiled integers have 64 bits, and their overflow is undefined. A chunk function therefore ends at the first
iteration in which an integer leaves -2**62 < x < 2**62 (`wide`) or a product may (`unsafe_product`): sums and
differences of two integers in that range fit into 64 bits, so they can be tested after they are computed.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

#: Integers of compiled code have so many bits, and are smaller than this in magnitude.
_BITS, _LIMIT_BITS = 64, 62
LIMIT = 2**62
#: Integers up to this in magnitude are floats without rounding, of 64 and of 32 bits.
EXACT, EXACT32 = 2**53, 2**24

#: Arrays of iterations that have more elements are left to Python.
MOST_ELEMENTS = 2**27

#: numpy's functions on one float64: name of the helper -> name in numpy.
UNARY = {
    f"np_{name}": name
    for name in (
        *("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan"),
        *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
        "sign",
    )
}
#: As `UNARY`, on two.
BINARY = {
    f"np_{name}": name
    for name in (
        *("arctan2", "hypot", "power", "remainder", "floor_divide"),
        *("maximum", "minimum", "fmax", "fmin"),
    )
}

#: libm's functions, as `math` calls them: name of the helper -> name in `math`.
MATH_UNARY = {
    f"math_{name}": name
    for name in (
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
        *("sin", "cos", "tan", "asin", "acos", "atan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
        *("erf", "erfc"),
    )
    if hasattr(math, name)  # exp2 and cbrt: since 3.11
}
MATH_BINARY = {f"math_{name}": name for name in ("atan2", "fmod")}

#: Stands for the value of a variable that is bound before it is read, of whatever type it is then.
UNBOUND = 0

#: Kinds of results, in the vector of kinds: none, bool, int, float.
UNSET, BOOL, INT, FLOAT = range(4)
#: Where the kinds of notes have the number of notes, and whether there was no room for all.
COUNT, FULL = -2, -1

#: Integers, floats in the same memory, and the kind of each row; the same of notes, where there are any.
Results = tuple[Any, ...]


def _is_integer(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def wide(x: Any) -> bool:
    """Whether an integer is outside -2**62 < x < 2**62; False for other numbers."""
    return isinstance(x, int | np.integer) and not -LIMIT < x < LIMIT


def unsafe_product(a: Any, b: Any) -> bool:
    """Whether the product of two integers may be `wide`: conservatively, from the factors alone."""
    if not (_is_integer(a) and _is_integer(b)):
        return False
    small = -(2**31) < a < 2**31 and -(2**31) < b < 2**31
    return not small and abs(float(a) * float(b)) >= LIMIT


def unsafe_shift(count: Any) -> bool:
    """Whether integers of 64 bits cannot be shifted by so many bits."""
    return not 0 <= count < _BITS


def wide_after(x: Any, count: Any) -> bool:
    """Whether an integer may be `wide` after a shift to the left, by 0 or more bits."""
    return bool(count >= _LIMIT_BITS or not -(LIMIT >> count) < x < LIMIT >> count)


def inexact(x: Any) -> bool:
    """Whether an integer may be no float. If none is, ``/`` and comparisons with floats are exact."""
    return isinstance(x, int | np.integer) and not -EXACT <= x <= EXACT


def is_zero(x: Any) -> bool:
    """Whether a number is zero, of either sign."""
    return bool(x == 0)


def is_minus_one(x: Any) -> bool:
    """Whether a number is the integer -1: numpy's quotient by it may wrap."""
    return isinstance(x, int | np.integer) and bool(x == -1)


def not_finite(x: Any) -> bool:
    """Whether a float is infinite or not a number; False for integers and bools."""
    return bool(x - x != 0) if isinstance(x, float) else False


def too_far(x: Any) -> bool:
    """Whether a complex number has finite parts and an infinite absolute value, which Python raises for."""
    return isinstance(x, complex) and cmath.isfinite(x) and math.isinf(math.hypot(x.real, x.imag))


def too_large(x: Any) -> bool:
    """Whether a number has no whole part of 64 bits: it is too large, infinite, or no number."""
    return not -LIMIT < x < LIMIT


def integer(x: Any) -> int:
    """``int(x)``: an integer of 64 bits in compiled code, whatever an array had it in."""
    return int(x)


def truth_as_integer(x: Any) -> Any:
    """A truth value as a number: 0 or 1."""
    return x + 0


def unfit(array: Any, x: Any) -> bool:
    """Whether Python may not store an integer in an array as it is: it raises, or rounds twice."""
    if array.dtype.kind in "iu":
        return not np.iinfo(array.dtype).min <= x <= np.iinfo(array.dtype).max
    return bool(array.dtype == np.float32 and not -EXACT32 <= x <= EXACT32)


def kept(row: Any) -> Any:
    """A row of an array as it is now, to be put back: an element, or a copy."""
    return row.copy() if isinstance(row, np.ndarray) else row


def minimum2(a: Any, b: Any) -> Any:
    """``min(a, b)``: the first of equals, and a if either is not a number."""
    return b if b < a else a


def maximum2(a: Any, b: Any) -> Any:
    """``max(a, b)``: the first of equals, and a if either is not a number."""
    return b if b > a else a


def outside(k: int, n: int) -> bool:
    """Whether a subscript k is none of a sequence of n elements."""
    return not -n <= k < n


def is_shape(a: int, b: int = 1, c: int = 1, d: int = 1) -> bool:
    """Whether an array may have axes of these lengths, and is no larger than a gigabyte."""
    if min(a, b, c, d) < 0 or max(a, b, c, d) > MOST_ELEMENTS:
        return False
    return a * b <= MOST_ELEMENTS and a * b * c <= MOST_ELEMENTS and a * b * c * d <= MOST_ELEMENTS


def power(x: Any, y: Any) -> Any:
    """``x ** y`` of floats; what it raises or makes complex is infinite or not a number when compiled."""
    return x**y


def math_pow(x: Any, y: Any) -> Any:
    """``math.pow(x, y)``."""
    return math.pow(x, y)


def math_hypot(x: Any, y: Any, z: Any) -> Any:
    """``math.hypot(x, y, z)``; not a number where compiled code does not know its bits."""
    return math.hypot(x, y, z)


def numpy_power(x: Any, y: Any) -> Any:
    """``x ** y`` of numpy's float64 scalars."""
    return np.float64(x) ** y


def np_sum(a: Any) -> Any:
    """``np.sum(a)`` and ``a.sum()`` of a vector."""
    return np.sum(a)


def np_mean(a: Any) -> Any:
    """``np.mean(a)`` and ``a.mean()`` of a vector of floats."""
    return np.mean(a)


def put(results: Results, k: int, t: int, value: Any) -> None:
    """Store a number as the t-th result of row k."""
    _store(results[:3], k, t, value)


def note(results: Results, k: int, t: int, value: Any) -> None:
    """Store a number in row k of the t-th note; an iteration may leave any number of notes."""
    _store(results[3:], k, t, value)


def count_note(results: Results, t: int) -> int:
    """Complete the t-th note; returns the number of the next one."""
    results[5][COUNT] = t + 1
    return t + 1


def noted(results: Results, k: int, t: int, like: Any) -> Any:
    """The number in row k of the t-th note, which is of the type of ``like``."""
    integers, floats, _ = results[3:]
    return (floats if isinstance(like, float) else integers)[k, t]


def no_room(results: Results, t: int) -> bool:
    """Whether there is no room for the t-th note, which is then noted."""
    full = bool(t >= results[3].shape[1])
    if full:
        results[5][FULL] = 1
    return full


def is_full(results: Results) -> bool:
    """Whether a note has been given up for want of room."""
    return bool(results[5][FULL])


def count_notes(results: Results) -> int:
    """How many notes there are; the last ones may be of an iteration that was left to Python."""
    return int(results[5][COUNT])


def _store(numbers: Sequence[Any], k: int, t: int, value: Any) -> None:
    integers, floats, kinds = numbers
    if isinstance(value, bool | np.bool_):
        integers[k, t], kinds[k] = value, BOOL
    elif isinstance(value, int | np.integer):
        integers[k, t], kinds[k] = value, INT
    elif isinstance(value, float):
        floats[k, t], kinds[k] = value, FLOAT
    else:
        raise TypeError(f"expected a bool, int or float as a result; found {type(value).__name__}")


def new_results(rows: int, length: int) -> Results:
    """Room for ``rows`` results of each of ``length`` iterations; undefined where nothing was put."""
    integers = np.empty((rows, length), np.int64)
    return integers, integers.view(np.float64), np.zeros(rows, np.int8)


def new_notes(rows: int, room: int) -> Results:
    """Room for so many notes of ``rows`` numbers, which follows the results in the same tuple."""
    integers, floats, _ = new_results(rows, room)
    return integers, floats, np.zeros(rows + 2, np.int64)


def read_array(results: Results, k: int, n: int) -> Any:
    """The first n results of row k, as an array of bools, ints or floats; ValueError if nothing was put."""
    integers, floats, kinds = results[:3]
    match int(kinds[k]):
        case 1:
            return integers[k, :n] != 0
        case 2:
            return integers[k, :n]
        case 3:
            return floats[k, :n]
        case _:
            raise ValueError(f"expected results in row {k}; found none")


def read_results(results: Results, k: int, n: int) -> list[Any]:
    """As `read_array`, as Python's own numbers."""
    values: list[Any] = read_array(results, k, n).tolist()
    return values


def _ufunc(name: str) -> Any:
    function = getattr(np, name)

    def call(*numbers: float) -> Any:
        return function(*map(np.float64, numbers))

    call.__name__ = call.__qualname__ = f"np_{name}"
    call.__doc__ = f"``np.{name}`` of scalars."
    return call


def _libm(name: str) -> Any:
    function = getattr(math, name)

    def call(*numbers: float) -> Any:
        return function(*numbers)

    call.__name__ = call.__qualname__ = f"math_{name}"
    call.__doc__ = f"``math.{name}`` of floats."
    return call


_MADE: dict[str, Any] = {
    **{helper: _ufunc(name) for helper, name in (UNARY | BINARY).items()},
    **{helper: _libm(name) for helper, name in (MATH_UNARY | MATH_BINARY).items()},
}
globals().update(_MADE)

#: What `dlbrt.native` offers to generated programs.
HELPERS: Sequence[str] = (
    *("unsafe_shift", "wide_after", "too_far", "integer", "unfit", "truth_as_integer", "UNBOUND"),
    *("wide", "unsafe_product", "is_zero", "not_finite", "minimum2", "maximum2", "outside", "inexact"),
    *(
        "too_large",
        "kept",
        "is_minus_one",
        "is_shape",
        "power",
        "math_pow",
        "math_hypot",
        "numpy_power",
        "np_sum",
        "np_mean",
    ),
    *("put", "new_results", "read_results", "read_array", "note", "noted", "no_room", "count_note"),
    *_MADE,
)
