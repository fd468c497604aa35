"""Functions by value within a process: a function with all that decides what it does, as it is now.

A frozen function is a copy of a function of the program and of the program's functions that it calls, with
globals of its own. What the program binds to its globals later changes nothing in it. That is possible where
all globals that these functions read hold values that nothing changes (`bindings`).
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from dlbrt.mpi.values.program_modules import is_of_program

#: For each function reached its globals.
Bindings = dict[types.FunctionType, dict[str, Any]]

_ATOMS = frozenset({int, float, complex, str, bytes, bool, type(None), type(...), slice})

#: Modules that have no state which matters to what their functions return, and nothing of the program.
_STATELESS = frozenset({"builtins", "numpy", "math", "cmath", "operator", "itertools"})

#: Built-in functions that do something else than return a value, or return one that is not the same again.
_EFFECTS = frozenset({
    *("print", "input", "open", "exec", "eval", "compile", "__import__", "breakpoint", "setattr", "delattr"),
    *("globals", "locals", "vars", "dir", "id", "hash"),
})  # fmt: skip

#: Names of attributes that lead to state of a library.
_STATE = frozenset({"random"})

_KEPT = 256


class _OpenError(Exception):
    """What a function does depends on more than is known."""


def bindings(function: object) -> Bindings | None:
    """The globals of the function, and of those of the program that it calls; None where some may change."""
    found: Bindings = {}
    try:
        _bind(function, found)
    except _OpenError:
        return None
    return found


def are_same(one: Bindings, other: Bindings) -> bool:
    """Whether the functions are the same objects, and so are their globals."""
    return one.keys() == other.keys() and all(
        names.keys() == other[function].keys()
        and all(value is other[function][name] for name, value in names.items())
        for function, names in one.items()
    )


def frozen(function: types.FunctionType, known: Bindings) -> types.FunctionType:
    """The copy of a function whose `bindings` are ``known``."""
    spaces: dict[types.FunctionType, dict[str, Any]] = {each: {} for each in known}
    copies = {each: _copied(each, space) for each, space in spaces.items()}
    for each, space in spaces.items():
        space["__builtins__"], space["__name__"] = builtins, each.__module__
        for name, value in known[each].items():
            is_copied = isinstance(value, types.FunctionType) and value in copies
            space[name] = copies[value] if is_copied else value
    return copies[function]


def _copied(function: types.FunctionType, space: dict[str, Any]) -> types.FunctionType:
    copy = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = dict(function.__kwdefaults__) if function.__kwdefaults__ else None
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def _bind(function: object, found: Bindings) -> None:
    if function in found:
        return
    if not isinstance(function, types.FunctionType) or function.__closure__ or function.__dict__:
        raise _OpenError
    names = found[function] = {}
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        _look_at(value, found)
    for name in _global_reads(function.__code__):
        if name in function.__globals__:
            names[name] = function.__globals__[name]
            _look_at(names[name], found)
        elif name in _EFFECTS or not hasattr(builtins, name):
            raise _OpenError


def _look_at(value: Any, found: Bindings) -> None:
    kind = type(value)
    if kind in _ATOMS or isinstance(value, np.number | np.bool_) or _is_of_library(value):
        return
    if kind is tuple:
        for each in value:
            _look_at(each, found)
    elif kind is types.FunctionType and is_of_program(value):
        _bind(value, found)
    else:
        raise _OpenError


def _is_of_library(value: Any) -> bool:
    """Whether it is a stateless module, something of one, or a part of the runtime that never changes."""
    if isinstance(value, types.ModuleType):
        return value.__name__ in _STATELESS
    if type(value) is np.ufunc:
        return True
    if type(value).__module__.startswith("dlbrt."):
        return not type(value).__module__.startswith("dlbrt.mpi.")
    home = getattr(value, "__module__", None) if callable(value) else None
    if not isinstance(home, str) or isinstance(value, types.MethodType):
        return False
    return home.partition(".")[0] in _STATELESS or home.startswith(("dlbrt.reductions.", "dlbrt.native."))


@functools.lru_cache(maxsize=_KEPT)
def _global_reads(code: types.CodeType) -> tuple[str, ...]:
    """The globals that code reads; `_OpenError` where it stores to some, or has effects of other kinds."""
    return tuple(dict.fromkeys(_reads(code)))


def _reads(code: types.CodeType) -> Iterator[str]:
    if not _STATE.isdisjoint(code.co_names):
        raise _OpenError
    for each in dis.get_instructions(code):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield each.argval
        elif each.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME"):
            raise _OpenError
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _reads(constant)
