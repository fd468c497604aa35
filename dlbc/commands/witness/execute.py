"""Run the rewritten program as `python FILE ARGS` would run the original, and report what was found.

The program's own modules are rewritten as well. All annotated loops are watched, also those inside another
parallel loop. The report has the form of our diagnostics.
"""

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

from dlbc.commands.witness.record import VERBS, AccessSite, IterationConflict, RecordedAccess, WatchedLoop
from dlbc.commands.witness.rewrite import rewrite
from dlbc.commands.witness.rewrite_expressions import WATCHER
from dlbc.commands.witness.watch import AccessMonitor
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, Severity, excerpt, has_errors, render
from dlbc.ir.annotation import Annotation
from dlbc.ir.loop import Module
from dlbc.parse.argument_list import ClauseReader, parse_arguments
from dlbc.parse.comments import bind_comments, find_comments
from dlbc.parse.find_loops import find_loops
from dlbc.parse.read_clauses import read_annotation
from dlbc.parse.read_source import WHOLE_FILE, decode_source, parse_module
from dlbc.source import Source

# The report


def describe(watch: AccessMonitor, source: Source, ending: str) -> str:
    """All conflicts, then what was watched and what not; ``ending``: how the program failed, if it did."""
    lines = [line for _, conflict in sorted(watch.conflicts.items()) for line in _conflict(conflict)]
    return "\n".join([*lines, *_summary(watch, source, ending)])


def _conflict(conflict: IterationConflict) -> Iterator[str]:
    earlier, later = conflict.earlier, conflict.later
    one, other = conflict.iterations
    place = later.site.place
    yield (
        f"{later.site.source.path}:{place.line}:{place.column}: conflict: "
        f"iterations {one} and {other} share {conflict.element}"
    )
    yield from _side(later, f"iteration {other} {_verb(later, 1)} it", "^")
    if earlier.site.source.path != later.site.source.path:
        at = earlier.site.place
        yield f"{earlier.site.source.path}:{at.line}:{at.column}:"
    yield from _side(earlier, f"iteration {one} {_verb(earlier, 0)} it before", "-")
    run = f", in its run number {conflict.run}" if conflict.run > 1 else ""
    yield f"  in the parallel loop of line {conflict.loop.place.line}{run}"


def _side(access: RecordedAccess, label: str, mark: str) -> list[str]:
    return excerpt(access.site.source, access.site.place, label, mark)


def _verb(access: RecordedAccess, tense: int) -> str:
    return VERBS.get(access.kind, ("updated", "updates"))[tense]


def _summary(watch: AccessMonitor, source: Source, ending: str) -> Iterator[str]:
    if not watch.loops:
        yield f"{source.path}: no parallel loop to watch"
    else:
        yield f"{source.path}: {_verdict(watch)}; watched: {_extent(watch)}"
    for number, loop in enumerate(watch.loops):
        if loop.unwatched:
            yield f"  not watched: the loop of line {loop.place.line}, {loop.unwatched}"
        elif number not in watch.runs:
            yield f"  not watched: the loop of line {loop.place.line}, which did not run"
    for what, site in watch.unwatched.items():
        yield f"  not watched: {what}, line {site.place.line}"
    if ending:
        yield f"  the program ended with {ending}"


def _verdict(watch: AccessMonitor) -> str:
    found = len(watch.conflicts)
    if not found:
        return "no conflict between iterations"
    return f"{_count(found, 'loop')} of {len(watch.loops)} with a conflict"


def _extent(watch: AccessMonitor) -> str:
    counts = [_count(len(watch.runs), "loop"), _count(sum(watch.runs.values()), "run")]
    counts += [_count(watch.iterations_watched, "iteration"), _count(watch.accesses, "access", "es")]
    return ", ".join(counts)


def _count(number: int, word: str, plural: str = "s") -> str:
    return f"{number} {word}{'' if number == 1 else plural}"


# The loops to be watched

#: The remark on a parallel loop inside another one, which the compiler leaves alone.
_NESTED = "DLB120"


def loops_to_watch(module: Module) -> tuple[dict[ast.For, WatchedLoop], tuple[Diagnostic, ...]]:
    """The annotated loops in document order, and what is wrong with annotations."""
    loops, _, diagnostics = find_loops(module)
    found = {loop.node: loop.annotation for loop in loops}
    places = {d.place for d in diagnostics if d.code == _NESTED}
    found |= {node: annotation for node, annotation in _nested(module) if annotation.place in places}
    ordered = sorted(found, key=lambda node: (node.lineno, node.col_offset))
    others = tuple(d for d in diagnostics if d.code != _NESTED)
    return {node: _watched(module, node, found[node]) for node in ordered}, others


def _nested(module: Module) -> Iterator[tuple[ast.For, Annotation]]:
    loops = [n for n in ast.walk(module.tree) if isinstance(n, ast.For | ast.AsyncFor | ast.While)]
    for comment in bind_comments(find_comments(module.source), loops, module.source)[0]:
        arguments = parse_arguments(comment, module.source.path)
        if isinstance(comment.loop, ast.For) and not isinstance(arguments, Diagnostic):
            annotation = read_annotation(ClauseReader(arguments), comment.place)
            if annotation is not None:
                yield comment.loop, annotation


def _watched(module: Module, node: ast.For, annotation: Annotation) -> WatchedLoop:
    nodes = list(ast.walk(node))
    mentions = sorted((n.lineno, n.col_offset, n.id) for n in nodes if isinstance(n, ast.Name))
    names = dict.fromkeys(name for _, _, name in mentions)
    suspended = any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in nodes)
    reason = "whose body is suspended by `yield` or `await`" if suspended else ""
    return WatchedLoop(module.source.place_of(node), annotation, tuple(names), reason)


# The run

_RECURSION_LIMIT = 20_000
_HERE = os.path.dirname(os.path.abspath(__file__))


def witness(source: Source, arguments: Sequence[str]) -> int:
    """Run ``source`` and report on standard error; the exit status 1 after a conflict or an error, else 0."""
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
    """How the program failed; empty if it did not."""
    if failure is None or (isinstance(failure, SystemExit) and failure.code in (None, 0)):
        return ""
    if isinstance(failure, SystemExit):
        return f"exit status {failure.code}" if isinstance(failure.code, int) else f"{failure.code}"
    return type(failure).__name__


def _show(failure: BaseException) -> None:
    """Print the traceback that Python shows for the original: without the frames of this package."""
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
    """The program as `__main__`, with its arguments, and its directory first on the path; then as before."""
    held = sys.argv, sys.path[:], sys.modules.get("__main__"), sys.meta_path[:]
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=source.path, __builtins__=builtins)
    directory = os.path.dirname(os.path.realpath(source.path))
    finder = _Finder(directory, watch)
    sys.argv, sys.path[:] = [source.path, *arguments], [directory, *sys.path[1:]]
    sys.modules["__main__"] = program
    sys.meta_path.insert(0, finder)
    setattr(builtins, WATCHER, watch)  # it stays, since functions that run at exit still call it
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
    """Finds the program's own modules, those below its directory, and gives them a loader that rewrites."""

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
        """The code of the rewritten module; of the original if it cannot be rewritten."""
        path = self.get_filename(fullname)
        data = self.get_data(path)
        source, problems = decode_source(path, data)
        module = None if problems else parse_module(source)
        if not isinstance(module, Module):
            return self.source_to_code(data, path)
        return _compiled(module, {}, self._watch, path)
