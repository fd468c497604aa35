"""Read a file as text and as CPython's own tree, and refuse programs that use MPI themselves.

The encoding is the one that Python itself would use (PEP 263 cookie, byte order mark). A file that cannot be
read, or whose bytes are not text, gives a diagnostic that ends the command with status 2. Its `Source` then
holds what could be read, so that the diagnostic can show the place.

`compile` sees the text before any other parser: its message and line are right where those of other parsers
are wrong, and it refuses nesting that would overflow the lossless parser's stack.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.loop import Module
from dlbc.parse import lookups
from dlbc.source import Source, SourcePlace

#: The place of a diagnostic about the whole file.
WHOLE_FILE = SourcePlace(0, 0, 0, 0)

#: How the names of notebooks end.
NOTEBOOK = ".ipynb"

#: How the names of files end that look like programs, and what they are.
NO_PROGRAMS = {
    ".pyx": "Cython's source, which is compiled",
    ".pxd": "declarations of Cython, which are compiled",
    ".pyi": "a stub, which only type checkers read",
}


def read_source(path: str) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The file at ``path``; the diagnostics are empty where it is readable text."""
    try:
        data = lookups.read(Path(path))
    except OSError as error:
        return Source(path, b"", ""), (report("DLB001", WHOLE_FILE, reason=error.strerror or str(error)),)
    if path.endswith(NOTEBOOK):
        return Source(path, data, ""), (report("DLB018", WHOLE_FILE, notebook=path),)
    if what := NO_PROGRAMS.get(Path(path).suffix):
        return Source(path, data, ""), (report("DLB021", WHOLE_FILE, what=what),)
    return decode_source(path, data)


def decode_source(path: str, data: bytes) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The text of ``data``, decoded as Python decodes a source file."""
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        return _undetected(path, data, error)
    try:
        source = Source(path, data, data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        return _undecodable(path, data, encoding, error.start)
    except (UnicodeError, LookupError):
        return _unusable(path, data, encoding)
    if "\0" in source.text:
        before = source.text[: source.text.index("\0")]
        return source, (report("DLB002", _place_after(before), what="a null character"),)
    return source, _check_round_trip(source)


def _check_round_trip(source: Source) -> tuple[Diagnostic, ...]:
    try:
        same = source.text.encode(source.encoding) == source.data
    except UnicodeError:
        same = False
    return () if same else (report("DLB003", WHOLE_FILE, encoding=source.encoding),)


def _undetected(path: str, data: bytes, error: SyntaxError) -> tuple[Source, tuple[Diagnostic, ...]]:
    reason = str(error.msg)
    if reason.startswith("unknown encoding"):
        return _unusable(path, data, reason.rpartition(": ")[2])
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as invalid:
        return _undecodable(path, data, "utf-8", invalid.start)
    return _unusable(path, data, "one that disagrees with the file's byte order mark")


def _undecodable(path: str, data: bytes, encoding: str, start: int) -> tuple[Source, tuple[Diagnostic, ...]]:
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        source = Source(path, data, data.decode(codec, errors="replace"), encoding)
        place = _place_after(data[:start].decode(codec, errors="replace"))
    except UnicodeError:  # a codec may replace nothing
        return _unusable(path, data, encoding)
    what = f"the byte 0x{data[start]:02x}, which is not {encoding}"
    return source, (report("DLB002", place, what=what),)


def _unusable(path: str, data: bytes, encoding: str) -> tuple[Source, tuple[Diagnostic, ...]]:
    return Source(path, data, ""), (report("DLB003", WHOLE_FILE, encoding=encoding),)


def _place_after(before: str) -> SourcePlace:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    column = len(lines[-1]) + 1
    return SourcePlace(len(lines), column, len(lines), column + 1)


def parse_module(source: Source) -> Module | Diagnostic:
    """The module; or a diagnostic of a syntax error (DLB004), or of too deep nesting (DLB005)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text, source.path)
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if source.cells else 0
            compile(source.text, source.path, "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        return report("DLB004", _place_of(error, source), reason=error.msg or "invalid syntax")
    except (RecursionError, MemoryError):
        return report("DLB005", WHOLE_FILE)
    except (ValueError, OverflowError) as error:
        return report("DLB004", WHOLE_FILE, reason=str(error))
    return Module(source, tree)


def _place_of(error: SyntaxError, source: Source) -> SourcePlace:
    if not error.lineno:
        return WHOLE_FILE
    line = min(error.lineno, len(source.lines))
    column = min(max(1, error.offset or 1), len(source.line(line)) + 1)
    if error.end_lineno == line and error.end_offset and error.end_offset > column:
        return SourcePlace(line, column, line, error.end_offset)
    return SourcePlace(line, column, line, column + 1)


def check_program(module: Module) -> tuple[Diagnostic, ...]:
    """DLB501 for every import of mpi4py.

    Ranks above 0 serve loops and never execute the sequential part, where the program's own sends and
    receives would be. Its messages on the same communicator would also mix with the runtime's.
    """
    if "mpi4py" not in module.source.text:
        return ()
    return tuple(
        report("DLB501", module.source.place_of(node))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.stmt | ast.expr) and any(_is_mpi4py(name) for name in _imported(node))
    )


def check_literals(module: Module) -> Diagnostic | None:
    """DLB024 for the first integer with more digits than Python converts to text: no code can have it.

    Python refuses such a literal itself where it is decimal.
    """
    if len(module.source.text) * 2 < sys.get_int_max_str_digits():
        return None
    node = unwritable_integer(module.tree)
    return None if node is None else report_unwritable(node, module.source.place_of(node))


def unwritable_integer(tree: ast.AST) -> ast.Constant | None:
    """The first integer in a tree that Python does not convert to text."""
    most = sys.get_int_max_str_digits()
    for node in ast.walk(tree) if most else ():
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value.bit_length() > 3 * most:
            try:
                str(node.value)
            except ValueError:
                return node
    return None


def report_unwritable(node: ast.Constant, place: SourcePlace) -> Diagnostic:
    """DLB024 for an `unwritable_integer`."""
    bits = node.value.bit_length()  # type: ignore[union-attr]  # an integer
    return report("DLB024", place, most=sys.get_int_max_str_digits(), bits=bits)


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(name), level=0):
            yield name
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name


def _is_mpi4py(name: str) -> bool:
    return name.split(".")[0] == "mpi4py"
