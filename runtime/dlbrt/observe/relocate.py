"""The code of a generated program with the file, lines and columns of its source.

Under ``dlbc run`` the generated text is nobody's file: tracebacks, warnings, `inspect` and debuggers show the
source. So its code gets the places of the source before it is compiled. What the compiler has added stands at
the loop that it was added for.
"""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from types import CodeType

from dlbrt.contract import CHUNK_PREFIX
from dlbrt.observe.linemap import LineMap, note_relocated, read_map, shifted_column
from dlbrt.records import dataclass

#: Nodes that have places.
_PLACED = (ast.expr, ast.stmt, ast.excepthandler, ast.arg, ast.keyword, ast.alias, ast.pattern)


def relocated_code(generated: bytes, path: str) -> CodeType:
    """The code of the generated text of the file ``path``, in terms of that file; OSError if it is gone."""
    with open(path, "rb") as file:
        source = _decoded(file.read())
    text = _decoded(generated)
    tree, lines = ast.parse(generated, path), read_map(text, "")
    if lines is not None:
        places = _Places(lines, text.split("\n"), source.split("\n"))
        kernels = {name: line for name, (line, _) in lines.kernels.items()}
        before, loop = 1, 0
        functions = [n.name if isinstance(n, ast.FunctionDef) else "" for n in tree.body]
        loops = [kernels[name] for name in functions if name in kernels]
        for statement, name in zip(tree.body, functions, strict=True):
            if name.startswith(CHUNK_PREFIX) and loop < len(loops):
                places.find_in_loop(statement, loops[loop])
                _relocate(statement, places, loops[loop], apart=True)
                continue
            loop += name in kernels
            number = places.number(statement)
            _relocate(statement, places, kernels.get(name, before), apart=name in kernels)
            before = number or before
        note_relocated(path, lines)
    return compile(tree, path, "exec", dont_inherit=True)


def _decoded(data: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding).read()


def _is_deeper(line: str, depth: int) -> bool:
    return not line.strip() or len(line) - len(line.lstrip()) > depth


@dataclass(frozen=True, slots=True)
class _Line:
    """The source line of a generated line, and both texts; ``shift`` where they differ in indentation."""

    number: int
    generated: bytes
    source: bytes
    shift: int | None

    def column(self, generated: int, otherwise: int) -> int:
        """The column in the source of one in the generated line; ``otherwise`` where this is not known."""
        if self.shift is not None:
            return max(0, generated + self.shift)
        found = shifted_column(self.generated, self.source, generated)
        return otherwise if found is None else found


class _Places:
    """Lines of generated text by number, in terms of the source."""

    def __init__(self, lines: LineMap, generated: list[str], source: list[str]) -> None:
        self._lines, self._generated, self._source = lines, generated, source
        self._known: dict[int, _Line | None] = {}

    def line(self, generated: int) -> _Line | None:
        """The line; None if the compiler added it."""
        if generated not in self._known:
            number = self._lines.line(generated)
            self._known[generated] = self._pair(generated, number) if number else None
        return self._known[generated]

    def find_in_loop(self, function: ast.stmt, loop: int) -> None:
        """Give lines of a chunk function the places of the same texts in the loop at the line ``loop``."""
        head = self._source[loop - 1]
        inside = range(loop, len(self._source))
        depth = len(head) - len(head.lstrip())
        body = itertools.takewhile(lambda k: _is_deeper(self._source[k], depth), inside)
        found = {self._source[k].strip(): k + 1 for k in reversed([*body])}
        for generated in range(function.lineno, (function.end_lineno or 0) + 1):
            number = found.get(self._generated[generated - 1].strip())
            self._known[generated] = None if number is None else self._pair(generated, number)

    def number(self, statement: ast.stmt) -> int:
        """The number of a generated statement's line; 0 if the compiler added it."""
        found = self.line(statement.lineno)
        return 0 if found is None else found.number

    def _pair(self, generated: int, number: int) -> _Line | None:
        if generated > len(self._generated) or number > len(self._source):
            return None
        old, new = self._generated[generated - 1].encode(), self._source[number - 1].encode()
        shift = len(new) - len(old) if old.lstrip() == new.lstrip() else None
        return _Line(number, old, new, shift)


def _relocate(statement: ast.stmt, places: _Places, beside: int, *, apart: bool) -> None:
    """Give a statement and its parts their places; those without one stand at the line ``beside``.

    A statement that the compiler added stands at the line of the one before, which calls the loop; in a
    kernel, which is ``apart``, at that of the loop.
    """
    waiting: list[tuple[ast.AST, int]] = [(statement, beside)]
    while waiting:
        node, beside = waiting.pop()
        if isinstance(node, _PLACED):
            beside = _place(node, places, beside)
        for child in ast.iter_child_nodes(node):
            waiting.append((child, beside))
            if isinstance(child, ast.stmt) and not apart:
                beside = places.number(child) or beside


def _place(node: ast.AST, places: _Places, beside: int) -> int:
    """Give a node its place, and return its line."""
    assert isinstance(node, _PLACED)
    first, last = places.line(node.lineno), places.line(node.end_lineno or node.lineno)
    if first is None or last is None:
        start = end = (beside if first is None else first.number, 0)
    else:
        start = first.number, first.column(node.col_offset, len(first.source) - len(first.source.lstrip()))
        end = last.number, last.column(node.end_col_offset or 0, len(last.source.rstrip()))
    node.lineno, node.col_offset = start
    node.end_lineno, node.end_col_offset = max(start, end)
    return start[0]
