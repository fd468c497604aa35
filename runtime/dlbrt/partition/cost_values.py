"""What a cost expression gave: a work, many of them, or why it is none.

Works are finite real numbers of 0 or more. Anything that converts to a float without loss of meaning is taken
(fractions, decimals, NumPy's scalars, truth values), text and complex numbers are not.
"""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from dlbrt.data.layout import Floats
from dlbrt.partition.cost_spec import CostError

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


# ------------------------------------------------------------------------------
# A cost is computed with wide numbers, however narrow the program keeps what it reads.
#
# ``102 * counts[r] + 3`` with ``counts`` of uint8 is the number of operations modulo 256: NumPy computes in
# the type of its operands, and Python's numbers take that type on (NEP 50). That is the program's business
# where it is the program's own computation, but work is a number of operations, and of these none may be lost.
# So a cost reads integers as Python's, elements of integer arrays as 64 bits, and half and single precision as
# double: values are the same, products and sums do not wrap.
#
# Arrays are not copied. What is read is a view that widens whatever is taken out of it or computed with it;
# for the rest (shape, dtype, memory) it is the array. Truth values and what is not NumPy's stay as they are.

#: Functions of arrays that have no meaning apart from the type of their operand.
_OF_THE_TYPE = (np.invert,)


def widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with what it reads from around it widened: variables of functions, and of the module.

    The function itself where there is nothing to widen; what it calls is not looked into.
    """
    if not isinstance(function, FunctionType):
        return function
    cells = tuple(map(_wide_cell, function.__closure__ or ()))
    module = function.__globals__
    read = {name: module[name] for name in _names(function.__code__) if name in module}
    changed = {name: new for name, value in read.items() if (new := wide(value)) is not value}
    if not changed and all(map(_is, cells, function.__closure__ or ())):
        return function
    names = {**module, **changed} if changed else module
    found = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    found.__kwdefaults__ = function.__kwdefaults__
    return found


def wide(value: Any) -> Any:
    """A value of the same meaning whose arithmetic does not wrap; the value itself where that holds of it.

    Tuples are widened element by element: they are what loops over several things at a time give.
    """
    if isinstance(value, np.integer) and not isinstance(value, np.timedelta64):
        return _Whole(value)
    if isinstance(value, np.float16 | np.float32):
        return np.float64(value)
    if type(value) in (np.ndarray, np.memmap) and _is_narrow(value.dtype):
        return value.view(_Wide)
    if type(value) is tuple:
        found = tuple(map(wide, value))
        return value if all(map(_is, found, value)) else found
    return value


class _Whole(int):
    """A Python integer that has the methods of NumPy's as well (``item``, ``dtype``)."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(int(self))[()], name)


class _Wide(np.ndarray[Any, np.dtype[Any]]):
    """A view of an array of narrow numbers whose elements, and what is computed with them, are wide."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return found if isinstance(found, np.ndarray) else wide(found)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        taken = _plain if ufunc in _OF_THE_TYPE else _computed
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        return getattr(ufunc, method)(*map(taken, inputs), **options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        named = {name: _computed(value) for name, value in options.items()}
        return function(*map(_computed, arguments), **named)


def _computed(value: Any) -> Any:
    """What NumPy is to compute with: the elements in 64 bits, also where lists hold such arrays."""
    if isinstance(value, _Wide):
        return _plain(value).astype(_wide_type(value))
    if type(value) in (list, tuple):
        return type(value)(map(_computed, value))
    return value


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, _Wide) else value


def _wide_type(array: np.ndarray[Any, Any]) -> type[np.generic]:
    if array.dtype.kind == "f":
        return np.float64
    large = array.dtype.itemsize == 8 and array.size and int(array.view(np.ndarray).max()) >= 1 << 63
    return np.uint64 if large else np.int64


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether numbers of this type wrap, or lose digits, before those of 64 bits with a sign do."""
    return dtype.kind == "u" or (dtype.kind in "if" and dtype.itemsize < 8)


def _wide_cell(cell: CellType) -> CellType:
    """The cell of a variable, or one with its value widened; a variable without a value keeps its own."""
    try:
        value = cell.cell_contents
    except ValueError:
        return cell
    return cell if (new := wide(value)) is value else CellType(new)


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function may read from its module, those of functions in it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is(one: Any, other: Any) -> bool:
    return one is other
