"""Kernels that need not be pickled again: those whose globals hold nothing that can change unseen.

Pickling a function by value costs a tenth of a millisecond, which small loops called often would pay at
each call. A kernel's pickle can be used again as long as every global that it and the functions it
calls refer to is bound to the same object, and that object is immutable, or lives in a module that the
other ranks import.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["Signature", "named", "signature"]

Signature = tuple[Any, ...]

_PLAIN = (int, float, complex, str, bytes, bool, type(None))


class _MutableError(Exception):
    """A global that can change unseen."""


def named(kernel: Callable[..., None], arguments: Sequence[Any]) -> dict[str, Any]:
    """The arguments of a kernel by the names of its parameters, but for the first, the loop itself."""
    names = kernel.__code__.co_varnames[1 : kernel.__code__.co_argcount]
    return dict(zip(names, arguments, strict=True))


def signature(kernel: Callable[..., None]) -> Signature | None:
    """What the kernel's pickle depends on: equal signatures, equal pickles. None if that cannot be said.

    A signature holds the objects themselves, so that none of their identities is used again.
    """
    if not isinstance(kernel, types.FunctionType):
        return None
    try:
        return tuple(_of_function(kernel, set()))
    except _MutableError:
        return None


def _of_function(function: types.FunctionType, seen: set[int]) -> Iterator[Any]:
    if id(function) in seen:
        return
    seen.add(id(function))
    if function.__closure__ or function.__dict__:
        raise _MutableError
    yield _Same(function)
    yield function.__code__
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield from _of_value(value, seen)
    names = function.__globals__
    for name in _global_names(function.__code__):
        if name in names:
            yield name
            yield from _of_value(names[name], seen)


def _of_value(value: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, types.FunctionType) and value.__module__ == "__main__":
        yield from _of_function(value, seen)
    elif type(value) in _PLAIN:
        yield type(value)
        yield repr(value) if isinstance(value, float | complex) else value
    elif isinstance(value, types.ModuleType) or _is_elsewhere(value) or _is_ours(value):
        yield _Same(value)
    else:
        raise _MutableError


def _is_elsewhere(value: Any) -> bool:
    """Whether a class or function is known by name in an imported module."""
    named = isinstance(value, type | types.FunctionType | types.BuiltinFunctionType)
    return named and getattr(value, "__module__", None) not in (None, "__main__")


def _is_ours(value: Any) -> bool:
    """Whether it belongs to the runtime (``BLOCK``, ``dlb``), which every rank has."""
    return type(value).__module__.startswith("dlbrt.")


def _global_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


class _Same:
    """Equal only to another of the same object."""

    __slots__ = ("value",)
    __hash__ = object.__hash__

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value
