"""The functions that a chunk function calls, copied so that numba compiles them with it.

numba calls only functions that it has compiled itself, and freezes the values of global names when it
compiles. So each plain function of the program that is reached by a global name, a closure or an attribute of
a module is copied, with numba's functions of the copies in place of its globals. The same walk collects all
that the compiled code depends on (code, constants, frozen values), without file names and line numbers:
`digest`. The names of the copies end in a hash, so no two kernels in one process share a symbol.
"""

from __future__ import annotations

import hashlib
import linecache
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dis import get_instructions
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dlbrt.native import numerics
from dlbrt.native.arguments import NotCompiled

_NUMBERS = (bool, int, float, complex, np.float64, np.int64, np.bool_, np.complex128)
_HELPERS = {getattr(numerics, name): name for name in numerics.HELPERS}

#: The module of the copies: one that can be imported wherever a kept kernel is loaded.
_HOME = "dlbrt.native"

_ABSENT = object()


class ProgramFunctions:
    """Copies of a function and of all that it calls."""

    def __init__(self, function: FunctionType) -> None:
        self._parts: list[str] = []
        self._numbers: dict[FunctionType, int] = {}
        self._copies: list[FunctionType] = []
        self._calls: list[tuple[Callable[[Any], None], int]] = []
        self._modules: dict[int, ModuleType] = {}
        self._read: list[tuple[Callable[[], Any], Any]] = []
        #: Whether the digest says all; a function that the program has compiled itself has more to it.
        self.keepable = True
        self._copy(function)

    @property
    def digest(self) -> str:
        """The hash of what the compiled code depends on, types and options apart."""
        return hashlib.sha256("\n".join(self._parts).encode("utf-8", "surrogatepass")).hexdigest()

    def unchanged(self) -> bool:
        """Whether the program's names still have the values that were found."""
        return all(read() is value for read, value in self._read)

    def line_of(self, number: int) -> str:
        """The text of a line in the file of these functions, without what dlbc has put there; else empty.

        Statements may stand elsewhere than in the program, so the number says little to its author.
        """
        for function in self._numbers:
            code = function.__code__
            lines = [line for _, _, line in code.co_lines() if line is not None]
            if min(lines, default=0) <= number <= max(lines, default=-1):
                text = linecache.getline(code.co_filename, number).strip()
                return "" if "dlbrt.native" in text else text
        return ""

    def compile_by(self, compiled: Callable[[FunctionType, bool], Any], key: str) -> Any:
        """numba's function of the first copy; the others in place of what calls them. To be called once.

        ``compiled`` also gets whether a copy is the first.
        """
        for copy in self._copies:
            copy.__qualname__ = copy.__name__ = f"{copy.__name__}_{key}"
        functions = [compiled(copy, number == 0) for number, copy in enumerate(self._copies)]
        for place, number in self._calls:
            place(functions[number])
        return functions[0]

    def _copy(self, function: FunctionType) -> int:
        """The number of the function's copy; a recursive call finds the same one."""
        if function in self._numbers:
            return self._numbers[function]
        number = self._numbers[function] = len(self._numbers)
        code = function.__code__
        self._read.append((partial(getattr, function, "__code__"), code))
        self._parts += [f"define {number} {function.__name__}", *_code_parts(code)]
        if function.__kwdefaults__:
            raise NotCompiled(f"`{function.__name__}` has keyword-only parameters with defaults")
        for value in function.__defaults__ or ():
            self._parts.append(f"default {self._described(function.__name__, value)}")
        names: dict[str, Any] = {"__builtins__": __builtins__, "__name__": _HOME}
        cells = tuple(CellType() for _ in function.__closure__ or ())
        copy = FunctionType(code, names, function.__name__, function.__defaults__, cells or None)
        copy.__module__ = _HOME
        self._copies.append(copy)
        self._freeze_globals(function.__globals__, names, code)
        for name, old, new in zip(code.co_freevars, function.__closure__ or (), cells, strict=True):
            self._freeze(name, partial(getattr, old, "cell_contents"), _cell_setter(new), code)
        return number

    def _freeze_globals(self, old: dict[str, Any], new: dict[str, Any], code: CodeType) -> None:
        for name in sorted(_loaded_globals(code)):
            if name in old:
                self._freeze(name, partial(old.get, name, _ABSENT), _item_setter(new, name), code)

    def _freeze(
        self, name: str, read: Callable[[], Any], store: Callable[[Any], None], code: CodeType
    ) -> None:
        """Have compiled code see the value of a name: itself, or what stands for it."""
        try:
            value = read()
        except ValueError as error:
            raise NotCompiled(f"`{name}` has no value") from error
        self._parts.append(f"name {name}")
        if isinstance(value, ModuleType):
            store(self._module(value, code))
        elif isinstance(value, FunctionType) and not (known := _known(value)):
            number = self._copy(value)
            self._parts.append(f"function {number}")
            self._calls.append((store, number))
        else:
            described = known if isinstance(value, FunctionType) else self._described(name, value)
            self._parts.append(described)
            store(value)
        self._read.append((read, value))

    def _module(self, module: ModuleType, code: CodeType) -> ModuleType:
        """The module; if attributes that may be used are functions of the program, a copy that has theirs."""
        self._parts.append(f"module {module.__name__}")
        if module.__name__.split(".")[0] in {"dlbrt", "numpy", "math", "cmath", "operator", "builtins"}:
            return module
        shadow = self._modules.setdefault(id(module), ModuleType(module.__name__))
        for name in sorted(_global_names(code)):
            if name in vars(module):
                read = partial(vars(module).get, name, _ABSENT)
                with suppress(NotCompiled):  # the name may be an attribute of something else
                    self._freeze(name, read, _item_setter(vars(shadow), name), code)
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
            self.keepable = False
            return f"numba {kind.__name__}"
        if callable(value) and getattr(value, "__module__", "").split(".")[0] == "numpy":
            return f"{kind.__name__} {value.__module__}.{value.__name__}"
        described = "a list" if kind is list else f"an object of {kind.__qualname__}"
        raise NotCompiled(
            f"the global name `{name}` is {described}, which may change: pass it as an argument"
        )


def _item_setter(space: dict[str, Any], name: str) -> Callable[[Any], None]:
    def store(value: Any) -> None:
        space[name] = value

    return store


def _cell_setter(cell: CellType) -> Callable[[Any], None]:
    def store(value: Any) -> None:
        cell.cell_contents = value

    return store


def _known(function: FunctionType) -> str:
    """How a plain function that numba replaces as a whole is described; empty for one of the program."""
    if function in _HELPERS:
        return f"helper {_HELPERS[function]}"
    top = (function.__module__ or "").split(".")[0]
    if top == "numpy" or (top in sys.stdlib_module_names and top != "__main__"):
        return f"library {function.__module__}.{function.__qualname__}"
    return ""


def _exact(value: Any) -> str:
    """A value as text that no other value of its type has: floats by their bits."""
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
    yield code.co_exceptiontable.hex()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        else:
            yield _constant(constant)


def _constant(value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, tuple):
        return f"{kind} ({', '.join(map(_constant, value))})"
    if isinstance(value, frozenset):
        return f"{kind} {sorted(map(_constant, value))}"
    return f"{kind} {_exact(value)}"


def _global_names(code: CodeType) -> set[str]:
    """Names that code, with the code inside, uses as globals or attributes."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_global_names, inner))


def _loaded_globals(code: CodeType) -> set[str]:
    """Names that code, with the code inside, uses as globals."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    own = {each.argval for each in get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*map(_loaded_globals, inner))
