"""What a worker imports while it waits for the first loop: libraries that the loops will need.

Rank 0 imports the program's libraries before its first loop. A worker would import those that a kernel names
when the kernel arrives, while rank 0 waits. So it imports them before, beside rank 0. This changes
nothing but the time: only modules that are installed are imported, only where they stand at the beginning of
the program, before any statement that could prepare for an import, and only where a loop of the program, or
what it calls there, names them. An import that fails is left to the loop that needs it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from dlbrt.mpi.values.program_modules import is_library
from dlbrt.records import dataclass

#: What a generated program has before its own imports.
_START = "dlbrt.start"
#: Where loops are compiled: the clause in the source, or the functions in the generated program.
_COMPILED = re.compile(rb"^\s*# dlb:.*\bjit\b|^def _dlb_chunk_", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LibraryImport:
    """A module, and what is taken out of it by name, each of which may be a module as well."""

    module: str
    parts: tuple[str, ...] = ()


def import_early() -> None:
    """Import what the program's loops need of libraries, as far as that is clear from its text."""
    path = getattr(sys.modules["__main__"], "__file__", None) or ""
    try:
        with open(path, "rb") as file:
            text = file.read()
        if _COMPILED.search(text):
            from dlbrt.native.compiler import load_numba

            load_numba()
        wanted = tuple(needed_imports(ast.parse(text)))
        for each in wanted:
            if not _is_library(each.module.partition(".")[0]):
                return
            _import(each)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a module may raise anything, SystemExit too
        return


def needed_imports(program: ast.Module) -> Iterator[LibraryImport]:
    """The imports at the beginning of the program of which its loops use a name, or what they call."""
    used = _names_in_loops(program)
    for statement in program.body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Assign(value=ast.Call(func=called)) if ast.unparse(called) == _START:
                pass
            case ast.Import(names=names):
                for alias in names:
                    if (alias.asname or alias.name.partition(".")[0]) in used:
                        yield LibraryImport(alias.name)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                if any((alias.asname or alias.name) in used for alias in names):
                    yield LibraryImport(module, tuple(alias.name for alias in names))
            case _:
                return


def _names_in_loops(program: ast.Module) -> set[str]:
    """The names in `for` loops, and in the functions, classes and methods of the file that these name."""
    named: dict[str, list[ast.AST]] = {}
    for node in ast.walk(program):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            named.setdefault(node.name, []).append(node)
    waiting: list[ast.AST] = [node for node in ast.walk(program) if isinstance(node, ast.For)]
    names: set[str] = set()
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name):
                names.add(node.id)
                waiting += named.pop(node.id, ())
            elif isinstance(node, ast.Attribute):
                waiting += named.pop(node.attr, ())
    return names


def _is_library(name: str) -> bool:
    """Whether a module is installed, and no part of the program."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return False
    return spec.origin in ("built-in", "frozen") or is_library(spec.origin)


def _import(wanted: LibraryImport) -> None:
    module = import_module(wanted.module)
    for part in wanted.parts:
        if not hasattr(module, part) and hasattr(module, "__path__"):
            import_module(f"{wanted.module}.{part}")
