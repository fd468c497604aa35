"""Kernels by value, apart from their arguments, so that they are sent once.

Pickling a function by value costs a tenth of a millisecond, which small loops called often would pay at each
call. A kernel's pickle can be used again as long as every global that the kernel and the functions it calls
refer to is bound to the same object, and that object is immutable, or lives in a module that the other ranks
import (`signature`).
"""

from __future__ import annotations

import io
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dlbrt.mpi.values.objects import KnownObjects
from dlbrt.mpi.values.set_pickles import dump_in_order, met_by_pickler
from dlbrt.mpi.values.taken_apart import PROTOCOL, CodePickler, is_of_loop
from dlbrt.records import dataclass

Signature = tuple[Any, ...]

_PLAIN = (int, float, complex, str, bytes, bool, type(None))


class _MutableError(Exception):
    """A global that can change unseen."""


def named(kernel: Callable[..., None], arguments: Sequence[Any]) -> dict[str, Any]:
    """The arguments of a kernel by the names of its parameters, without the first, the loop itself."""
    names = kernel.__code__.co_varnames[1 : kernel.__code__.co_argcount]
    return dict(zip(names, arguments, strict=True))


def signature(kernel: Callable[..., None]) -> Signature | None:
    """What the kernel's pickle depends on: equal signatures, equal pickles. None if this is not known.

    A signature holds the objects themselves, so that no other object takes over their identities.
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
    for name in global_names(function.__code__):
        if name in names:
            yield name
            yield from _of_value(names[name], seen)


def _of_value(value: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, types.FunctionType) and (value.__module__ == "__main__" or is_of_loop(value)):
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
    """Whether a value belongs to the runtime (``BLOCK``, ``dlb``), which every rank has."""
    return type(value).__module__.startswith("dlbrt.")


def global_names(code: types.CodeType) -> Iterator[str]:
    """The global names and attributes in a code object and those nested in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from global_names(constant)


class _Same:
    """Compares an object by identity."""

    __slots__ = ("value",)
    __hash__ = object.__hash__

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


@dataclass(frozen=True, slots=True)
class SentKernel:
    """A kernel's pickle, its signature, and the objects met in it, which all ranks have from then on."""

    signature: Signature
    data: bytes
    common: KnownObjects


def pack_kernel(kernel: Callable[..., None], found: Signature) -> SentKernel:
    """Pickle a kernel on its own."""

    def pickler() -> tuple[CodePickler, io.BytesIO]:
        file = io.BytesIO()
        return CodePickler(file, protocol=PROTOCOL), file

    used, data = dump_in_order(pickler, kernel)
    met = met_by_pickler(used)
    return SentKernel(found, data, KnownObjects(lambda: met))
