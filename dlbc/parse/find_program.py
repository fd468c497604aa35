"""Find the files of a program: the one that is run, and the modules of its own that imports lead to.

Nothing is executed: a module that is only imported by a computed name, a plugin, is not found here.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from pathlib import Path

from dlbrt.contract import MARK

from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.loop import Module
from dlbc.parse import lookups
from dlbc.parse.find_modules import ModuleFinder, SearchPath
from dlbc.parse.read_source import WHOLE_FILE, parse_module, read_source
from dlbc.source import Source


class NoModuleError(Exception):
    """There is no source of the module that was named; ``diagnostic`` says what there is."""

    def __init__(self, what: str) -> None:
        self.diagnostic = report("DLB019", WHOLE_FILE, what=what)
        super().__init__(what)


def program_module(name: str) -> tuple[str, Path]:
    """The module that ``python -m NAME`` runs, and its file; raises NoModuleError."""
    spec = _spec(name)
    if spec.submodule_search_locations is not None:
        main = f"{name}.__main__"
        inner = PathFinder.find_spec(main, list(spec.submodule_search_locations))
        if inner is None:
            raise NoModuleError(f"the package {name}, which has no module __main__ that could be run")
        name, spec = main, inner
    return name, _source_of(name, spec)


def package_files(name: str) -> list[Path]:
    """The directories of a package, or the file of a module, that is named; raises NoModuleError."""
    spec = _spec(name)
    if spec.submodule_search_locations is None:
        return [_source_of(name, spec)]
    if spec.has_location:
        _source_of(name, spec)
    return [Path(each) for each in spec.submodule_search_locations]


def _spec(name: str) -> ModuleSpec:
    """The spec of a module as Python finds it from the current directory; its packages are not imported."""
    first, *rest = name.split(".")
    spec: ModuleSpec | None = None
    try:
        with _current_directory_first():
            spec = importlib.util.find_spec(first)
    except (ImportError, ValueError, AttributeError):
        pass
    known = first
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            break
        known = f"{known}.{part}"
        spec = PathFinder.find_spec(known, list(spec.submodule_search_locations))
    if spec is None or known != name:
        raise NoModuleError(f"no module named {name}")
    return spec


@contextmanager
def _current_directory_first() -> Iterator[None]:
    before = list(sys.path)
    sys.path.insert(0, os.getcwd())
    try:
        yield
    finally:
        sys.path[:] = before


def _source_of(name: str, spec: ModuleSpec) -> Path:
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise NoModuleError(f"{name} without its source ({spec.origin or spec.loader})")
    return Path(spec.origin)


def imported_files(main: Source, search: SearchPath) -> Iterator[Source]:
    """The modules of the program that its imports lead to, each once, nearest first.

    A module that is not valid Python is among them.
    """
    finder = ModuleFinder(main, search)
    parsed = parse_module(main)
    waiting = [parsed] if isinstance(parsed, Module) else []
    known = {os.path.realpath(main.path)}
    while waiting:
        module = waiting.pop(0)
        for name in imports_of(module.tree):
            for file in finder.files(name, module.source):
                if (real := os.path.realpath(file)) in known:
                    continue
                known.add(real)
                source = finder.source(file)
                if source is None:
                    continue
                yield source
                found = finder.parsed(file)
                waiting += [found] if found is not None else []


def imports_of(tree: ast.Module) -> Iterator[str]:
    """The names that a module imports, in the form that `ModuleFinder` takes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "~" * node.level + (node.module or "")
            joined = "." if node.module else ""
            yield start
            yield from (f"{start}{joined}{alias.name}" for alias in node.names if alias.name != "*")


def ambiguous(files: Iterable[Path]) -> Iterator[Diagnostic]:
    """A warning for each package beside a module of its name, which Python does not import."""
    for file in files:
        folder = file.parent
        if file.name == "__init__.py" and lookups.is_file(folder.with_name(f"{folder.name}.py")):
            yield report("DLB020", WHOLE_FILE, package=f"{folder.name}/", module=f"{folder.name}.py")


def compiled(files: Sequence[Source]) -> Iterator[tuple[Source, Diagnostic]]:
    """A warning for each annotated file that a compiled one hides, an error for annotated Cython source.

    Such source is the program's if it lies beside one of the ``files``, which imports its name.
    """
    for source in files:
        file = Path(source.path)
        beside = (file.with_name(file.stem + suffix) for suffix in EXTENSION_SUFFIXES)
        if MARK in source.text and (hiding := next(filter(lookups.is_file, beside), None)) is not None:
            yield source, report("DLB022", WHOLE_FILE, module=file.name, compiled=hiding.name)
    folders = {Path(source.path).parent for source in files}
    for path in sorted({path for folder in folders for path in lookups.cython_sources(folder)}):
        imported = re.compile(rf"^\s*(?:from|import)\b.*\b{re.escape(path.stem)}\b", re.MULTILINE)
        source, problems = read_source(str(path))
        if MARK.encode() in source.data and any(imported.search(each.text) for each in files):
            yield from ((source, problem) for problem in problems)
