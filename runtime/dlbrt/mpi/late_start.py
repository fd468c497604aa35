"""A start of the runtime in a module that the program imports.

A generated program starts the runtime by its first statement. Where an untransformed program imports a
transformed module, every rank has run the program up to that import; from there on rank 0 goes on alone. That
is the sequential program only if what has run could have no effect that anyone sees: imports, definitions,
and values of names. So the text of what has run is looked at, and a program that did more before is refused.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType

from dlbrt.mpi.values.program_modules import is_module_of_program, lies_beside_program
from dlbrt.visible_effects import visible_effects


def effect_before_start(frame: FrameType | None) -> str | None:
    """Where the program did more than import and define before this start, as ``main.py:3``; None if nowhere.

    ``frame`` is the one that called for the start. A module that cannot be read is passed over.
    """
    begun: dict[str, int] = {}
    main = vars(sys.modules["__main__"])
    while frame is not None:
        path = os.path.abspath(frame.f_code.co_filename)
        if os.path.isfile(path) and lies_beside_program(path):
            begun[path] = frame.f_lineno  # the outermost frame of a file counts
        at_start = frame.f_globals is main and frame.f_code.co_name == "<module>"
        frame = None if at_start else frame.f_back
    loaded = {path: sys.maxsize for path in _loaded() if path not in begun}
    found = (_first_effect(path, line) for path, line in (begun | loaded).items())
    return next(filter(None, found), None)


def forget_unfinished_modules() -> None:
    """Take modules that are being imported out of those imported, so that this rank can import them anew."""
    unfinished = [name for name, module in sys.modules.items() if _is_unfinished(module)]
    for name in list(sys.modules):
        if any(name == each or name.startswith(f"{each}.") for each in unfinished):
            del sys.modules[name]


def _is_unfinished(module: ModuleType | None) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _loaded() -> Iterator[str]:
    """The files of the program's modules that are imported."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and is_module_of_program(module) and module.__file__:
            yield os.path.abspath(module.__file__)


def _first_effect(path: str, end: int) -> str | None:
    """The first statement before line ``end`` of a file that somebody may see."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
    line = next(visible_effects(tree.body, end), None)
    return None if line is None else f"{os.path.basename(path)}:{line}"
