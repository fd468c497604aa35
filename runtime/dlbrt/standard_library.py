"""The standard library as the runtime imports it, where files beside the program have names of its modules.

Python looks for modules in the program's directory first. A file `statistics.py` there is what the program
imports, and must not be what the runtime, numpy or mpi4py import on its behalf. So while the runtime imports
anything, that directory is left out of the search, and modules of such names are those of the standard
library; the program never sees these. Where no file hides a module nothing is installed.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import ModuleType
from typing import Any

_ours: dict[str, ModuleType] = {}  # modules of the standard library that files of the program hide
_hidden: frozenset[str] = frozenset()
_directory = ""
_apart = False  # whether imports pass over the directory at present
_import = builtins.__import__


def keep_apart() -> None:
    """From now on the runtime's imports pass over the modules in ``sys.path[0]``, as it is now."""
    global _directory, _hidden
    _directory = sys.path[0] if sys.path else ""
    if found := _hidden_by(os.path.abspath(_directory)):
        _hidden |= found
        setattr(builtins, "__import__", _imported)  # noqa: B010


def import_apart(name: str) -> ModuleType:
    """Import a module of the runtime by its name."""
    with nullcontext() if _apart or not _hidden else _without_the_program():
        return import_module(name)


def _hidden_by(directory: str) -> frozenset[str]:
    """The names of the standard library's modules that files of the directory hide."""
    if directory == os.path.dirname(os.__file__):
        return frozenset()
    try:
        entries = os.listdir(directory)
    except OSError:
        return frozenset()
    stems = {entry.partition(".")[0] for entry in entries if _is_module(directory, entry)}
    return frozenset(name for name in stems & sys.stdlib_module_names if not _is_loaded(name, directory))


def _is_module(directory: str, entry: str) -> bool:
    package = os.path.join(directory, entry, "__init__.py")
    return entry.endswith((".py", ".pyc", ".so", ".pyd")) or os.path.exists(package)


def _is_loaded(name: str, directory: str) -> bool:
    """Whether Python has loaded the standard library's module for the program as well."""
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None) or ""
    return module is not None and not os.path.abspath(path).startswith(directory + os.sep)


def _imported(
    name: str,
    globals: Any = None,  # noqa: A002 -- as the builtin names them
    locals: Any = None,  # noqa: A002
    fromlist: Any = (),
    level: int = 0,
) -> Any:
    importer = globals.get("__name__") if isinstance(globals, dict) else None
    ours = any(str(module).partition(".")[0] == "dlbrt" for module in (importer, name))
    # Pickles import by this function as well, with a list: they name modules of the program.
    with nullcontext() if _apart or isinstance(fromlist, list) or not ours else _without_the_program():
        return _import(name, globals, locals, fromlist, level)


@contextmanager
def _without_the_program() -> Iterator[None]:
    """In this context imports find the standard library's modules alone under the names that are hidden."""
    global _apart
    theirs, path = _taken(), list(sys.path)
    sys.modules.update(_ours)
    sys.path[:] = [each for each in path if each != _directory]
    _apart = True
    try:
        yield
    finally:
        _apart = False
        sys.path[:] = path
        _ours.update(_taken())
        sys.modules.update(theirs)


def _taken() -> dict[str, ModuleType]:
    """The modules under hidden names, parts of packages too, no longer among those imported."""
    names = [name for name in sys.modules if name.partition(".")[0] in _hidden]
    return {name: sys.modules.pop(name) for name in names}
