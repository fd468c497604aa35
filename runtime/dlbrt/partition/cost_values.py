"""The values of cost expressions: conversion to works, errors, and wide arithmetic.

Works are finite real numbers of 0 or more. Anything that converts to a float without loss of meaning is
accepted (fractions, decimals, NumPy's scalars, truth values); text and complex numbers are not.

A cost is computed with wide numbers, however narrow the program keeps its data. ``102 * counts[r] + 3`` with
``counts`` of uint8 is the number of operations modulo 256: NumPy computes in the type of its operands, and
Python's numbers adopt that type (NEP 50). The program may want this for its own computation, but work is a
number of operations, and none of them may be lost. So a cost reads integers as Python's, elements of integer
arrays as 64 bits, and half and single precision as double: values are the same, products and sums do not
wrap. Arrays are not copied: the cost reads a view that widens elements when they are taken out or computed
with, and otherwise (shape, dtype, memory) is the array. Truth values and values that are not NumPy's stay as
they are.
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

#: What a user's expression may raise: anything except Ctrl-C, which is meant for the program.
RAISED = (Exception, SystemExit, GeneratorExit)

#: How many characters of an error's message are shown.
_MAX_SHOWN = 200


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings, so that none is shown or becomes an error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def checked(found: Any, place: str) -> float:
    """The value of an expression as a work; CostError unless it is a finite number of 0 or more."""
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
    """The error for an expression that raised one, with the first line of its message."""
    try:
        message = str(error).partition("\n")[0][:_MAX_SHOWN]
    except RAISED:  # the program's own __str__ may raise anything
        message = ""
    where = place and f" {place}"
    return CostError(f"{subject} raises {type(error).__name__}{where}{message and ': '}{message}")


def as_number(found: Any) -> float | None:
    """A real number as a float, infinite if it is too large for one; None for anything else."""
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
    except (TypeError, ValueError):  # ragged lists, and values that are no numbers
        return None
    if array.dtype.kind not in "biuf" or array.shape not in ((), (count,)):
        return None
    return np.broadcast_to(array.astype(np.float64), (count,))


def first_bad(works: Floats) -> list[int]:
    """The place of the first work that is not finite or is negative, if there is one."""
    good = (works >= 0) & (works < inf)
    return [] if good.all() else [int(np.argmin(good))]


#: Functions of arrays that have no meaning apart from the type of their operand.
_OF_THE_TYPE = (np.invert,)


def widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with widened variables of the functions around it and of its module.

    The function itself if there is nothing to widen; the functions that it calls are not changed.
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
    """An equal value whose arithmetic does not wrap; the value itself if its own does not.

    Tuples are widened element by element: they are the items of loops over several sequences.
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
    """A Python integer that also has the methods of NumPy's integers (``item``, ``dtype``)."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(int(self))[()], name)


class _Wide(np.ndarray[Any, np.dtype[Any]]):
    """A view of an array of narrow numbers whose elements, and results computed from them, are wide."""

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
    """The operand for NumPy: the elements in 64 bits, also of arrays in lists and tuples."""
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
    """Whether numbers of this type wrap, or lose digits, before signed 64-bit numbers do."""
    return dtype.kind == "u" or (dtype.kind in "if" and dtype.itemsize < 8)


def _wide_cell(cell: CellType) -> CellType:
    """The cell of a variable, or one with its value widened; a variable without a value keeps its own."""
    try:
        value = cell.cell_contents
    except ValueError:
        return cell
    return cell if (new := wide(value)) is value else CellType(new)


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function, or a function inside it, may read from its module."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is(one: Any, other: Any) -> bool:
    return one is other
