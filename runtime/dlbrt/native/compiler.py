"""Chunk functions, compiled: one explicit signature each, and strict floating point.

``fastmath`` is off, so LLVM neither reorders nor contracts floating-point operations. What compiled code
would compute otherwise than Python is found in its typed form (`typed_checks`) and refused.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import FunctionType
from typing import Any

import numpy as np

from dlbrt.native.arguments import NotCompiled
from dlbrt.native.cache import KernelCache, kernel_directory, kernel_key
from dlbrt.native.program_functions import ProgramFunctions
from dlbrt.records import dataclass

Compiled = Callable[..., int]


@dataclass(frozen=True, slots=True)
class _Known:
    """What was compiled of a function for these kinds of arguments, with these functions of the program.

    A NotCompiled where nothing was: to find that out takes as long as to compile much of it.
    """

    kinds: tuple[object, ...]
    functions: ProgramFunctions
    compiled: Compiled | NotCompiled


#: What was compiled of a function object, and what by its key, for as many as are remembered.
_of_function: dict[FunctionType, list[_Known]] = {}
_of_key: dict[str, Compiled] = {}
_MOST = 256


class CompileTime:
    """The ``seconds`` that this process has spent on compiling, on reading what was compiled before, and on
    importing numba.
    """

    seconds = 0.0


@cache
def load_numba() -> Any:
    """numba, with the helpers registered; NotCompiled if it is not installed."""
    try:
        import numba

        from dlbrt.native import lowering, summation  # noqa: F401
    except ImportError as error:
        if sys.modules.get("numba") is None:
            raise NotCompiled("numba is not installed: pip install 'dlbc[jit]'") from error
        raise NotCompiled(f"numba cannot be imported: {_one_line(error)}") from error
    if numba.config.DISABLE_JIT:
        raise NotCompiled("NUMBA_DISABLE_JIT is set")
    return numba


def compile_chunk(
    function: FunctionType, arguments: tuple[object, ...], *, python_division: bool = False
) -> Compiled:
    """The function compiled for arguments of these types; NotCompiled with the reason if it cannot be.

    ``python_division``: a division by zero raises ZeroDivisionError; otherwise it gives inf or nan.
    """
    kinds = (python_division, *map(_kind, arguments))
    for each in _of_function.get(function, ()):
        if each.kinds == kinds and each.functions.unchanged():
            return _accepted(each.compiled)
    started = time.perf_counter()
    try:
        return _newly_compiled(function, arguments, kinds, python_division)
    finally:
        CompileTime.seconds += time.perf_counter() - started


def _newly_compiled(
    function: FunctionType, arguments: tuple[object, ...], kinds: tuple[object, ...], python_division: bool
) -> Compiled:
    numba = load_numba()
    if function.__code__.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        raise NotCompiled("it is a generator or a coroutine")
    functions = ProgramFunctions(function)
    compiled = _compiled(functions, tuple(map(numba.typeof, arguments)), python_division)
    known = [each for each in _of_function.get(function, ()) if each.functions.unchanged()]
    _remember(_of_function, function, [*known, _Known(kinds, functions, compiled)])
    return _accepted(compiled)


def _accepted(compiled: Compiled | NotCompiled) -> Compiled:
    """What was compiled; raises where nothing was."""
    if isinstance(compiled, NotCompiled):
        raise NotCompiled(compiled.reason)  # one that is kept would hold on to its frames
    return compiled


def functions_of(function: FunctionType, compiled: Compiled) -> ProgramFunctions:
    """The functions of the program that what `compile_chunk` has returned was compiled of."""
    return next(each.functions for each in _of_function[function] if each.compiled is compiled)


def _remember(table: dict[Any, Any], key: object, value: object) -> None:
    """Enter a value; the oldest one goes where there are too many."""
    table[key] = value
    if len(table) > _MOST:
        del table[next(iter(table))]


def _kind(argument: object) -> object:
    """What decides on numba's type of an argument, found much faster than the type itself."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        layout = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
        return argument.dtype, argument.ndim, layout
    return tuple(map(_kind, argument)) if isinstance(argument, tuple) else type(argument)


def _compiled(
    functions: ProgramFunctions, types: tuple[Any, ...], python_division: bool
) -> Compiled | NotCompiled:
    """What was compiled in this process or is kept; else compile it, if that is possible."""
    from numba.core.errors import NumbaError

    key = kernel_key(functions.digest, types, python_division)
    if functions.keepable and key in _of_key:
        return _of_key[key]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = _compile(functions, types, python_division, key)
    except NotCompiled as error:
        return _placed(error, functions)
    except NumbaError as error:
        return _placed(_refusal(error), functions)
    except Exception as error:
        return NotCompiled(f"numba cannot compile it: {_one_line(error)}")
    if functions.keepable:
        _remember(_of_key, key, compiled)
    return compiled


def _placed(error: NotCompiled, functions: ProgramFunctions) -> NotCompiled:
    """The reason, with the text of the line that is to blame."""
    text = functions.line_of(error.line) if error.line else ""
    return NotCompiled(f"{error.reason}, in `{text}`" if text else error.reason)


def _compile(
    functions: ProgramFunctions, types: tuple[Any, ...], python_division: bool, key: str
) -> Compiled:
    """The dispatcher with this one signature; arguments of other types are an error."""
    import numba

    from dlbrt.native.typed_checks import CheckingCompiler, KernelCompiler

    division = "python" if python_division else "numpy"
    options = {"nogil": True, "fastmath": False, "error_model": division}

    def compiled_by(copy: FunctionType, first: bool) -> Any:
        return numba.njit(pipeline_class=KernelCompiler if first else CheckingCompiler, **options)(copy)

    dispatcher = functions.compile_by(compiled_by, key)
    directory = kernel_directory(os.environ) if functions.keepable else None
    if directory is None:
        dispatcher.compile(types)
    else:
        dispatcher._cache = kept = KernelCache(directory, key)
        with kept.locked():
            dispatcher.compile(types)
    dispatcher._compile_for_args = _refuse_types
    compiled: Compiled = dispatcher
    return compiled


def _refuse_types(*arguments: object, **_: object) -> int:
    found = ", ".join(type(each).__name__ for each in arguments)
    raise TypeError(f"expected the types that the chunk function was compiled for; found {found}")


_WALL = re.compile(r"Failed in .* \(step: .*\)\s*")


def _refusal(error: Any) -> NotCompiled:
    """What numba says, in one line, and of which line of the file."""
    place = getattr(error, "loc", None)
    line = getattr(place, "line", None)
    return NotCompiled(_reason(str(error)), line or _line(str(error)))


def _line(text: str) -> int | None:
    """The innermost line that numba's message names last."""
    found = re.findall(r"File \"[^\"]*\", line (\d+)", text)
    return int(found[-1]) if found else None


def _reason(text: str) -> str:
    """The first sentence of numba's message that says something."""
    text = _WALL.sub("", text)
    known = (
        (r"dlbrt: (.*)", "{}"),
        (r"Untyped global name '(\w+)'", "`{}` is of a type that numba does not know"),
        (r"NameError: name '(\w+)' is not defined", "`{}` is not defined"),
        (r"Unknown attribute '(\w+)'", "numba does not know the attribute `{}`"),
        (
            r"No implementation of function Function\(<(?:built-in )?function (\w+)",
            "numba has no `{}` for these types",
        ),
        (r"No implementation of function Function\(<class '(\w+)'", "numba has no `{}` for these types"),
        (r"No implementation of function Function\(<ufunc '(\w+)'", "numba has no `{}` for these types"),
        (r"Cannot unify (.+?) and (.+?) for '([\w.$]+)'", "`{2}` has several types: {0} and {1}"),
        (r"Use of unsupported opcode \((\w+)\)", "numba does not support this statement ({})"),
    )
    for pattern, shown in known:
        if match := re.search(pattern, text):
            return shown.format(*match.groups())
    return f"numba cannot compile it: {_one_line(text)}"


def _one_line(error: object) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]
