"""Run a program with timers around some of its loops: the process that `dlbc annotate --profile` starts.

    python -m dlbc.commands.annotate.measure REQUEST PROGRAM [ARGS...]

The request is a file of JSON: the files with the lines of their loops, and where the times are to go. Around
each loop stands ``try ... finally``, so a run ends with its `break`, `return` or exception. Each iteration
begins with a count, and what is iterated over is left alone. A run that begins inside another run of the same
loop (recursion) adds no time of its own. Loops that suspend (`yield`) are not to be asked for.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import json
import os
import sys
import threading
import traceback
import types
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

#: The name of the timers in the program, and of the counts of iterations.
_TIMERS, _COUNTS = "_dlbc_loop_timers_", "_dlbc_loop_counts_"


class LoopTimers:
    """For each loop, by its number: how many runs it had in the main thread, and their seconds."""

    def __init__(self) -> None:
        self.places: list[tuple[str, int]] = []
        self.runs: list[int] = []
        self.seconds: list[float] = []
        self.iterations: list[int] = []
        self._begun: list[float] = []
        self._depth: list[int] = []
        self._thread = threading.get_ident()

    def add(self, file: str, line: int) -> int:
        """The number of another loop."""
        self.places.append((file, line))
        for values in (self.runs, self.seconds, self.iterations, self._begun, self._depth):
            values.append(0)
        return len(self.places) - 1

    def begin(self, number: int) -> None:
        """A loop begins."""
        if threading.get_ident() == self._thread:
            self.runs[number] += 1
            self._depth[number] += 1
            if self._depth[number] == 1:
                self._begun[number] = perf_counter()

    def end(self, number: int) -> None:
        """A loop that has begun ends, however it does."""
        if threading.get_ident() == self._thread:
            self._depth[number] -= 1
            if not self._depth[number]:
                self.seconds[number] += perf_counter() - self._begun[number]


class _Instrument(ast.NodeTransformer):
    def __init__(self, file: str, lines: frozenset[int], timers: LoopTimers) -> None:
        self._file, self._lines, self._timers = file, lines, timers

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """The loop between the timers, if its line is one of those asked for."""
        self.generic_visit(node)
        if node.lineno not in self._lines:
            return node
        number = self._timers.add(self._file, node.lineno)
        node.body.insert(0, _statement(f"{_COUNTS}[{number}] += 1", node))
        begin, end = (_statement(f"{_TIMERS}.{verb}({number})", node) for verb in ("begin", "end"))
        timed = ast.Try(body=[node], handlers=[], orelse=[], finalbody=[end])
        return [begin, ast.copy_location(timed, node)]


def _statement(text: str, node: ast.For) -> ast.stmt:
    """A statement that stands where the loop begins."""
    [statement] = ast.parse(text).body
    for part in ast.walk(statement):
        if isinstance(part, ast.stmt | ast.expr):
            part.lineno = part.end_lineno = node.lineno
            part.col_offset = part.end_col_offset = node.col_offset
    return statement


def instrumented(data: bytes, path: str, lines: frozenset[int], timers: LoopTimers) -> types.CodeType:
    """The code of a file whose loops in these lines are timed."""
    tree = _Instrument(path, lines, timers).visit(ast.parse(data, path))
    code: types.CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    return code


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules whose loops are timed, by their files, and has them loaded with timers."""

    def __init__(self, files: Mapping[str, frozenset[int]], timers: LoopTimers) -> None:
        self._files, self._timers = files, timers

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's own specification, with another loader; None for other modules."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        file = os.path.realpath(spec.origin) if spec is not None and spec.origin else ""
        if spec is None or file not in self._files:
            return None
        spec.loader = _Loader(name, file, self._files[file], self._timers)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, lines: frozenset[int], timers: LoopTimers) -> None:
        super().__init__(name, path)
        self._lines, self._timers = lines, timers

    def get_code(self, fullname: str) -> Any:
        """The code with timers, never that of a cache."""
        path = self.get_filename(fullname)
        return instrumented(self.get_data(path), path, self._lines, self._timers)


def _run(path: str, arguments: Sequence[str], files: Mapping[str, frozenset[int]], timers: LoopTimers) -> int:
    """Run the program as `python FILE ARGS` does; its exit status."""
    code = instrumented(Path(path).read_bytes(), path, files.get(os.path.realpath(path), frozenset()), timers)
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=path, __builtins__=builtins)
    sys.modules["__main__"] = program
    sys.argv, sys.path[0] = [path, *arguments], os.path.dirname(os.path.realpath(path))
    sys.meta_path.insert(0, _Finder(files, timers))
    setattr(builtins, _TIMERS, timers)
    setattr(builtins, _COUNTS, timers.iterations)
    try:
        exec(code, program.__dict__)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        shown = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, shown)
        return 1
    return 0


def main(request: str, path: str, *arguments: str) -> int:
    """Run the program, and write the times; its exit status."""
    asked = json.loads(Path(request).read_text(encoding="utf-8"))
    files = {file: frozenset(lines) for file, lines in asked["files"].items()}
    timers = LoopTimers()
    begun = perf_counter()
    status = _run(path, arguments, files, timers)
    elapsed_s = perf_counter() - begun
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    loops = [
        {"file": os.path.realpath(file), "line": line, "runs": runs, "iterations": iterations, "seconds": s}
        for (file, line), runs, iterations, s in zip(
            timers.places, timers.runs, timers.iterations, timers.seconds, strict=True
        )
    ]
    found = {"status": status, "elapsed_s": elapsed_s, "loops": loops}
    Path(asked["times"]).write_text(json.dumps(found), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
