"""Chunk functions, compiled: one explicit signature each, and strict floating point.

``fastmath`` is off, so LLVM neither reorders nor contracts floating-point operations. What compiled code
would compute otherwise than Python is found in its typed form (`typed_checks`) and refused.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from functools import cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import FunctionType
from typing import Any

from dlbrt.native.arguments import NotCompiled, admit, restore
from dlbrt.native.program_functions import FrozenFunctions

__all__ = ["NotCompiled", "admit", "compile_chunk", "restore"]

Compiled = Callable[..., int]


@cache
def _numba() -> Any:
    """numba, with the helpers registered; NotCompiled if it is not installed."""
    try:
        import numba

        from dlbrt.native import lowering  # noqa: F401
    except ImportError as error:
        if sys.modules.get("numba") is None:
            raise NotCompiled("numba is not installed: pip install 'dlbc[jit]'") from error
        raise NotCompiled(f"numba cannot be imported: {_one_line(error)}") from error
    return numba


def compile_chunk(
    function: FunctionType, arguments: tuple[object, ...], *, python_division: bool = False
) -> Compiled:
    """The function compiled for arguments of these types; NotCompiled with the reason if it cannot be.

    ``python_division``: a division by zero raises ZeroDivisionError; otherwise it gives inf or nan.
    """
    numba = _numba()
    if function.__code__.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        raise NotCompiled("it is a generator or a coroutine")
    from numba.core.errors import NumbaError

    from dlbrt.native.typed_checks import CheckingCompiler

    options = {
        "nogil": True,
        "fastmath": False,
        "error_model": "python" if python_division else "numpy",
        "pipeline_class": CheckingCompiler,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signature = tuple(map(numba.typeof, arguments))
            functions = FrozenFunctions(function, numba.njit(**options))
            return _compiled(functions.main, signature)
    except NotCompiled:
        raise
    except NumbaError as error:
        raise _refusal(error) from error
    except Exception as error:
        raise NotCompiled(f"numba cannot compile it: {_one_line(error)}") from error


def _compiled(dispatcher: Any, signature: tuple[Any, ...]) -> Compiled:
    """The dispatcher with this one signature; arguments of other types are an error."""
    dispatcher.compile(signature)
    dispatcher._compile_for_args = _refuse_types
    compiled: Compiled = dispatcher
    return compiled


def _refuse_types(*arguments: object, **_: object) -> int:
    found = ", ".join(type(each).__name__ for each in arguments)
    raise TypeError(f"expected the types that the chunk function was compiled for; found {found}")


_LINE = re.compile(r"line (\d+)|\((\d+)\)")
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
