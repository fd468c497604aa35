"""Which arguments of a kernel compiled code takes: numbers, and arrays whose elements follow Python's rules.

A float64 element of an array behaves like a Python float in every operation, an int64 element like an int as
long as it stays below 2**62 in magnitude (checked, see `numerics`). An int32 element does not: by NEP 50 the
results of its operations have its own type, while compiled code would compute in 64 bits. So it is compared,
and takes part in arithmetic with 64-bit floats alone (`typed_checks`). Arrays of 32-bit floats are stored to.
Lists of numbers are copied to arrays; none is stored to.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from dlbrt.native.numerics import LIMIT
from dlbrt.reductions.unbound import is_unbound

_ELEMENTS = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_), np.dtype(np.complex128))
_SCALARS = (float, bool, complex, np.float64, np.bool_, np.complex128)
_INTEGERS = (int, np.int64)
_KINDS = {
    dict: "a dictionary",
    str: "a string",
    bytes: "a bytes object",
    set: "a set",
    type(None): "None",
    list: "a list",
}


class NotCompiled(Exception):  # noqa: N818 - it is an outcome
    """Why a loop runs as Python: ``reason``, and the ``line`` of the function's file if one is to blame."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def admit(names: Sequence[str], arguments: Sequence[object]) -> tuple[object, ...]:
    """The arguments as compiled code takes them, lists as arrays; NotCompiled if it does not take one."""
    check_error_state()
    return tuple(map(_admitted, names, arguments))


def check_error_state() -> None:
    """Raise NotCompiled where numpy's errors or warnings have effects that compiled code has not."""
    for kind, mode in np.geterr().items():
        if mode not in ("warn", "ignore"):
            raise NotCompiled(f"np.seterr({kind}={mode!r}) is in force, which compiled code does not follow")
    for action, message, category, module, _ in warnings.filters:
        if issubclass(RuntimeWarning, category):
            if action == "error":
                raise NotCompiled("warnings are turned into errors, which compiled code does not follow")
            if message is None and module is None:
                return  # later filters do not count


def _admitted(name: str, value: object) -> object:
    if type(value) is np.ndarray:
        _check_array(name, value)
        return value
    if isinstance(value, list):
        return _array_of(name, value)
    if type(value) is tuple:
        return tuple(_admitted(f"{name}[{place}]", item) for place, item in enumerate(value))
    if type(value) in _INTEGERS:
        if not -LIMIT < value < LIMIT:  # type: ignore[operator]
            raise NotCompiled(f"`{name}` is an integer of 2**62 or more in magnitude")
        return value
    if type(value) in _SCALARS:
        return value
    if is_unbound(value):
        raise NotCompiled(f"`{name}` has no value")
    raise NotCompiled(f"`{name}` is {_described(value)}")


def _check_array(name: str, value: np.ndarray[Any, Any]) -> None:
    kind = value.dtype
    if not kind.isnative or not value.flags.aligned:
        raise NotCompiled(f"`{name}` is an array in foreign byte order, or not aligned")
    if kind in _ELEMENTS or kind.kind in "iu" or kind == np.float32:
        return
    if kind.kind in "fc":
        rule = "whose operations have results of that type, not of 64 bits"
        raise NotCompiled(f"`{name}` is an array of {kind.name}, {rule}")
    if kind.hasobject:
        raise NotCompiled(f"`{name}` is an array of objects")
    raise NotCompiled(f"`{name}` is an array of {kind.name}")


def _array_of(name: str, value: list[Any]) -> np.ndarray[Any, Any]:
    """A list of numbers of one type, or of such lists of one length, as an array of its own."""
    if type(value) is not list:
        raise NotCompiled(f"`{name}` is {_described(value)}")
    if not value:
        raise NotCompiled(f"`{name}` is an empty list")
    nested = type(value[0]) is list
    if nested and not _is_regular(value):
        raise NotCompiled(f"`{name}` is a list of lists that differ in length, or occur twice")
    found = set(map(type, chain.from_iterable(value) if nested else value))
    if found == {float}:
        return np.array(value, np.float64)
    if found == {bool}:
        return np.array(value, np.bool_)
    if found == {int}:
        return _integers(name, value, nested)
    raise NotCompiled(f"`{name}` is a list of {_listing(found)}, not of numbers of one type")


def _is_regular(rows: list[Any]) -> bool:
    return (
        all(type(row) is list and len(row) == len(rows[0]) for row in rows)
        and bool(rows[0])
        and len(set(map(id, rows))) == len(rows)
    )


def _integers(name: str, value: list[Any], nested: bool) -> np.ndarray[Any, Any]:
    items: Iterator[int] = chain.from_iterable(value) if nested else iter(value)
    if not all(-LIMIT < item < LIMIT for item in items):
        raise NotCompiled(f"`{name}` has integers of 2**62 or more in magnitude")
    return np.array(value, np.int64)


def _listing(found: set[type]) -> str:
    return " and ".join(sorted(kind.__name__ for kind in found))


def _described(value: object) -> str:
    kind = type(value)
    if isinstance(value, np.generic):
        return f"a numpy scalar of {kind.__name__}, whose operations have results of that type"
    if isinstance(value, np.ndarray):
        return f"an array of the subclass {kind.__name__}"
    return _KINDS.get(kind) or f"an object of {kind.__qualname__}"
