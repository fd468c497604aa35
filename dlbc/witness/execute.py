"""Run the rewritten program as `python FILE ARGS` would run the original, and its own modules alike."""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import linecache
import os
import sys
import traceback
import types
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, Severity, has_errors, render
from dlbc.ir.loop import Module
from dlbc.parse.parse_module import parse_module
from dlbc.parse.read_source import WHOLE_FILE, decode_source
from dlbc.source import Source
from dlbc.witness.describe import describe
from dlbc.witness.loops import loops_to_watch
from dlbc.witness.record import AccessSite
from dlbc.witness.rewrite import WATCHER, rewrite
from dlbc.witness.watch import AccessMonitor

__all__ = ["witness"]

_RECURSION_LIMIT = 20_000
_HERE = os.path.dirname(os.path.abspath(__file__))


def witness(source: Source, arguments: Sequence[str]) -> int:
    """Run ``source`` and report on standard error; 1 if there is a conflict or an error, else 0."""
    watch = AccessMonitor()
    code = _prepared(source, watch)
    if isinstance(code, tuple):
        for diagnostic in code:
            print(render(diagnostic, source), file=sys.stderr)
        return 1
    with _as_main(source, arguments, watch) as program:
        failure = _run(code, program)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    print(describe(watch, source, _ending(failure)), file=sys.stderr)
    if isinstance(failure, KeyboardInterrupt):
        raise failure
    if failure is not None and not isinstance(failure, SystemExit):
        _show(failure)
    return 1 if watch.conflicts or _ending(failure) else 0


def _prepared(source: Source, watch: AccessMonitor) -> types.CodeType | tuple[Diagnostic, ...]:
    module = parse_module(source)
    if isinstance(module, Diagnostic):
        return (module,)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        return _rewritten(module, watch)
    except (RecursionError, MemoryError):
        return (report("DLB005", WHOLE_FILE),)
    finally:
        sys.setrecursionlimit(limit)


def _rewritten(module: Module, watch: AccessMonitor) -> types.CodeType | tuple[Diagnostic, ...]:
    loops, diagnostics = loops_to_watch(module)
    if has_errors(diagnostics):
        return tuple(d for d in diagnostics if d.severity is Severity.ERROR)
    for diagnostic in diagnostics:
        if diagnostic.severity is Severity.WARNING:
            print(render(diagnostic, module.source), file=sys.stderr)
    watch.loops += loops.values()
    numbers = {node: number for number, node in enumerate(loops) if not loops[node].unwatched}
    return _compiled(module, numbers, watch, module.source.path)


def _compiled(module: Module, loops: dict[ast.For, int], watch: AccessMonitor, path: str) -> types.CodeType:
    def number(site: AccessSite) -> int:
        watch.sites.append(site)
        return len(watch.sites) - 1

    watch.files.add(path)
    changed = rewrite(module, loops, number, len(watch.files))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(changed, path, "exec", dont_inherit=True)


def _run(code: types.CodeType, program: types.ModuleType) -> BaseException | None:
    try:
        exec(code, program.__dict__)
    except BaseException as failure:
        return failure
    return None


def _ending(failure: BaseException | None) -> str:
    """How the program failed, in words; nothing where it did not."""
    if failure is None or (isinstance(failure, SystemExit) and failure.code in (None, 0)):
        return ""
    if isinstance(failure, SystemExit):
        return f"exit status {failure.code}" if isinstance(failure.code, int) else f"{failure.code}"
    return type(failure).__name__


def _show(failure: BaseException) -> None:
    """The traceback that Python shows of the original: without what runs and watches it."""
    shown = traceback.TracebackException.from_exception(failure)
    waiting: list[traceback.TracebackException | None] = [shown]
    while waiting:
        part = waiting.pop()
        if part is not None:
            own = [frame for frame in part.stack if not frame.filename.startswith(_HERE)]
            part.stack = traceback.StackSummary.from_list(own)
            waiting += [part.__cause__, part.__context__, *(part.exceptions or ())]
    print("".join(shown.format()), end="", file=sys.stderr)


@contextmanager
def _as_main(source: Source, arguments: Sequence[str], watch: AccessMonitor) -> Iterator[types.ModuleType]:
    """The program as `__main__`, with its arguments and its directory first on the path; then as before."""
    held = sys.argv, sys.path[:], sys.modules.get("__main__"), sys.meta_path[:]
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=source.path, __builtins__=builtins)
    directory = os.path.dirname(os.path.abspath(source.path))
    finder = _Finder(directory, watch)
    sys.argv, sys.path[:] = [source.path, *arguments], [directory, *sys.path[1:]]
    sys.modules["__main__"] = program
    sys.meta_path.insert(0, finder)
    setattr(builtins, WATCHER, watch)  # it stays: what the program leaves to the end still speaks to it
    linecache.checkcache(source.path)
    try:
        yield program
    finally:
        sys.argv, sys.path[:], main, sys.meta_path[:] = held
        if main is not None:
            sys.modules["__main__"] = main
        for name in finder.loaded:
            sys.modules.pop(name, None)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the program's own modules, those below its directory, and has them rewritten as well."""

    def __init__(self, directory: str, watch: AccessMonitor) -> None:
        self.loaded: list[str] = []
        self._directory, self._watch = directory + os.sep, watch

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's own specification, with a loader that rewrites; None for other modules."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        origin = os.path.abspath(spec.origin) if spec and spec.origin else ""
        own = origin.startswith(self._directory) and origin.endswith(".py")
        if spec is None or not own or "site-packages" in Path(origin).parts:
            return None
        spec.loader = _Loader(name, origin, self._watch)
        self.loaded.append(name)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, watch: AccessMonitor) -> None:
        super().__init__(name, path)
        self._watch = watch

    def get_code(self, fullname: str) -> Any:
        """The code of the rewritten module; of the original where that cannot be."""
        path = self.get_filename(fullname)
        data = self.get_data(path)
        source, problems = decode_source(path, data)
        module = None if problems else parse_module(source)
        if not isinstance(module, Module):
            return self.source_to_code(data, path)
        return _compiled(module, {}, self._watch, path)
