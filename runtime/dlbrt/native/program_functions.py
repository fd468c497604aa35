"""The functions that a chunk function calls, copied so that numba compiles them with it.

numba calls only functions that it has compiled itself, and freezes the values of global names when it
compiles. So each plain function of the program that is reached by a global name, a closure or an attribute of
a module is copied, with the copies of what it calls in place of its globals. The same walk collects all that
the compiled code depends on (code, constants, frozen values), without file names and line numbers: `digest`.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dlbrt.native import numerics
from dlbrt.native.arguments import NotCompiled

_NUMBERS = (bool, int, float, complex, np.float64, np.int64, np.bool_, np.complex128)
_HELPERS = {getattr(numerics, name): name for name in numerics.HELPERS}


class FrozenFunctions:
    """Copies of a function and of all that it calls; ``compile`` makes numba's function of a copy."""

    def __init__(self, function: FunctionType, compiled: Callable[[FunctionType], Any]) -> None:
        self._compiled = compiled
        self._parts: list[str] = []
        self._numbers: dict[FunctionType, int] = {}
        self._copies: dict[FunctionType, Any] = {}
        self._modules: dict[int, ModuleType] = {}
        self.keepable = True
        self.main = self._copy(function)

    @property
    def digest(self) -> str:
        """The hash of what the compiled code depends on, types and options apart."""
        return hashlib.sha256("\n".join(self._parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _copy(self, function: FunctionType) -> Any:
        """numba's function of a copy; a recursive call finds the same one."""
        if function in self._copies:
            self._parts.append(f"function {self._numbers[function]}")
            return self._copies[function]
        self._numbers[function] = len(self._numbers)
        code = function.__code__
        self._parts.append(f"define {self._numbers[function]} {function.__name__}")
        self._parts += _code_parts(code)
        if function.__kwdefaults__:
            raise NotCompiled(f"`{function.__name__}` has keyword-only parameters with defaults")
        self._describe_defaults(function)
        names: dict[str, Any] = {"__builtins__": __builtins__, "__name__": function.__module__}
        cells = tuple(CellType() for _ in function.__closure__ or ())
        copy = FunctionType(code, names, function.__name__, function.__defaults__, cells or None)
        copy.__module__ = function.__module__
        self._copies[function] = self._compiled(copy)
        for name in sorted(_global_names(code)):
            if name in function.__globals__:
                names[name] = self._frozen(name, function.__globals__[name], code)
        for name, old, new in zip(code.co_freevars, function.__closure__ or (), cells, strict=True):
            new.cell_contents = self._frozen(name, old.cell_contents, code)
        return self._copies[function]

    def _describe_defaults(self, function: FunctionType) -> None:
        for value in function.__defaults__ or ():
            self._parts.append(f"default {self._described(function.__name__, value)}")

    def _frozen(self, name: str, value: Any, code: CodeType) -> Any:
        """The value that compiled code has for a global name or a name of a closure."""
        self._parts.append(f"name {name}")
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, ModuleType):
            return self._module(value, code)
        self._parts.append(self._described(name, value))
        return value

    def _function(self, value: FunctionType) -> Any:
        if value in _HELPERS:
            self._parts.append(f"helper {_HELPERS[value]}")
            return value
        if _is_library(value):
            self._parts.append(f"library {value.__module__}.{value.__qualname__}")
            return value
        return self._copy(value)

    def _module(self, module: ModuleType, code: CodeType) -> ModuleType:
        """The module; if attributes that may be used are functions of the program, a copy that has theirs."""
        self._parts.append(f"module {module.__name__}")
        if _is_known(module):
            return module
        shadow = self._modules.setdefault(id(module), ModuleType(module.__name__))
        for name in sorted(_global_names(code)):
            if name in vars(module):
                with suppress(NotCompiled):  # it may be an attribute of something else
                    vars(shadow)[name] = self._frozen(name, vars(module)[name], code)
        return shadow

    def _described(self, name: str, value: Any) -> str:
        """A value as text; NotCompiled if it is none that may be frozen."""
        kind = type(value)
        if value is None or kind in _NUMBERS or kind in (str, bytes):
            return f"{kind.__name__} {_exact(value)}"
        if kind is tuple:
            return f"({', '.join(self._described(name, item) for item in value)})"
        if isinstance(value, type | BuiltinFunctionType | np.ufunc):
            return f"{kind.__name__} {getattr(value, '__module__', '')}.{value.__name__}"
        if kind.__module__.startswith("numba."):
            self.keepable = False  # what it was compiled from is its own affair
            return f"numba {kind.__name__}"
        if callable(value) and getattr(value, "__module__", "").split(".")[0] == "numpy":
            return f"{kind.__name__} {value.__module__}.{value.__name__}"
        described = "a list" if kind is list else f"an object of {kind.__qualname__}"
        raise NotCompiled(
            f"the global name `{name}` is {described}, which may change: pass it as an argument"
        )


def _exact(value: Any) -> str:
    """A value as text that no other value of its type has: NaNs and zeros by their bits."""
    if isinstance(value, float):
        return value.hex() if not math.isnan(value) else "nan"
    if isinstance(value, complex):
        return f"{_exact(value.real)} {_exact(value.imag)}"
    return repr(value)


def _code_parts(code: CodeType) -> Iterator[str]:
    """What code consists of, without its place."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags))
    yield repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount))
    yield getattr(code, "co_exceptiontable", b"").hex()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        else:
            yield f"{type(constant).__name__} {_constant(constant)}"


def _constant(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(f'{type(item).__name__} {_constant(item)}' for item in value)})"
    if isinstance(value, frozenset):
        return repr(sorted(map(repr, value)))
    return _exact(value)


def _global_names(code: CodeType) -> set[str]:
    """Names that code, with the code inside, uses as globals or attributes."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_global_names, inner))


def _is_known(module: ModuleType) -> bool:
    """Whether numba itself knows the functions of a module, or they are helpers."""
    return module.__name__.split(".")[0] in {"dlbrt", "numpy", "math", "cmath", "operator", "builtins"}


def _is_library(function: FunctionType) -> bool:
    """Whether a plain function belongs to Python's library or numpy, which numba replaces as a whole."""
    top = (function.__module__ or "").split(".")[0]
    return top in {"numpy", "builtins"} or (top in sys.stdlib_module_names and top != "__main__")
