"""Parse the text of an annotation as an argument list, by Python's own parser, and read its values.

The lines are padded so that every word keeps the column it has in the file. So only the line of a position
needs translation, and carets stand under the right word of a multi-line annotation.

A reader of a value returns None after it has noted why there is none. So reading goes on, and all faults of
an annotation are reported at once.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from dataclasses import field, replace

from dlbrt.contract import nearest
from dlbrt.records import dataclass

from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.parse.comments import BoundComment
from dlbc.parse.read_source import report_unwritable, unwritable_integer
from dlbc.source import Source, SourcePlace

_OPEN = "f("

#: A reduction as OpenMP writes it, `reduction(+: s)`.
_WITH_OPERATOR = re.compile(r"\bredu\w*\s*\(\s*(?:[-+*&|^]+|\w+)\s*:")


@dataclass(frozen=True, slots=True)
class AnnotationArgument:
    """One argument, ``keyword`` empty for a positional one; ``place`` is that of the whole argument."""

    keyword: str
    value: ast.expr
    place: SourcePlace


@dataclass(frozen=True)
class ArgumentList:
    """The arguments in the order of the text, and the places of their expressions in the file."""

    arguments: tuple[AnnotationArgument, ...]
    padded: Source
    first_line: int

    def place_of(self, node: ast.expr | ast.keyword) -> SourcePlace:
        """The place of a node of an argument in the file."""
        place = self.padded.place_of(node)
        shift = self.first_line - 1
        return SourcePlace(place.line + shift, place.column, place.end_line + shift, place.end_column)

    def text_of(self, node: ast.expr) -> str:
        """The expression on one line, as Python writes it."""
        return ast.unparse(node)


def parse_arguments(comment: BoundComment, path: str) -> ArgumentList | Diagnostic:
    """The arguments of the annotation; DLB101 where it is no argument list."""
    padded = Source(path, b"", _padded(comment))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(padded.text, mode="eval").body
    except SyntaxError as error:
        return _malformed(comment, error)
    except (RecursionError, MemoryError, ValueError, OverflowError):
        return report("DLB101", comment.place, reason="it is too large to be one")
    if not isinstance(body, ast.Call) or not _is_whole(body, padded):
        return report("DLB101", comment.place, reason="a bracket closes that was not opened")
    if (number := unwritable_integer(body)) is not None:
        return report_unwritable(number, comment.place)
    nodes: list[ast.expr | ast.keyword] = [*body.args, *body.keywords]
    nodes.sort(key=lambda n: (n.lineno, n.col_offset))
    places = ArgumentList((), padded, comment.place.line)
    return replace(places, arguments=tuple(_argument(node, places.place_of(node)) for node in nodes))


def _padded(comment: BoundComment) -> str:
    columns = [line.place.end_column - len(line.text) - 1 for line in comment.lines]
    texts = [" " * column + line.text for column, line in zip(columns, comment.lines, strict=True)]
    return "\n".join([_OPEN + texts[0][len(_OPEN) :], *texts[1:], ")"])


def _is_whole(call: ast.Call, padded: Source) -> bool:
    if not isinstance(call.func, ast.Name) or len(call.args) + len(call.keywords) == 0:
        return isinstance(call.func, ast.Name)
    return call.func.end_col_offset == 1 and call.end_lineno == len(padded.lines)


def _argument(node: ast.expr | ast.keyword, place: SourcePlace) -> AnnotationArgument:
    if isinstance(node, ast.keyword):
        return AnnotationArgument(node.arg or "**", node.value, place)
    return AnnotationArgument("", node, place)


def _malformed(comment: BoundComment, error: SyntaxError) -> Diagnostic:
    reason = error.msg or "invalid syntax"
    if any(_WITH_OPERATOR.search(line.text) for line in comment.lines):
        reason += "; `reduction(s)` takes names alone, the operator is read off the loop"
    line, column = error.lineno or 1, error.offset or 1
    inside = 0 < line <= len(comment.lines)
    text = comment.lines[line - 1] if inside else comment.lines[-1]
    start = text.place.end_column - len(text.text)
    if not inside or not start <= column <= text.place.end_column:
        return report("DLB101", comment.place, reason=reason)
    at = text.place.line
    return report("DLB101", SourcePlace(at, column, at, column + 1), reason=reason)


@dataclass(frozen=True)
class ClauseReader:
    """Reads the values of one annotation's arguments; ``problems`` collects their faults."""

    arguments: ArgumentList
    problems: list[Diagnostic] = field(default_factory=list)

    def add_problem(self, code: str, place: SourcePlace, **fields: str) -> None:
        """Note a diagnostic."""
        self.problems.append(report(code, place, "", (), **fields))

    def add_mismatch(
        self, place: SourcePlace, clause: str, wanted: str, found: ast.expr | str, hint: str = ""
    ) -> None:
        """Note that ``clause`` expected something else (DLB111); ``hint`` as `nearest` gives it."""
        text = found if isinstance(found, str) else self.arguments.text_of(found)
        self.add_problem("DLB111", place, clause=clause, wanted=wanted, found=_shorten(text), hint=hint)

    def name(self, node: ast.expr, clause: str, dotted: bool = False) -> str | None:
        """A name (``A``), or with ``dotted`` an attribute of one too (``self.A``)."""
        inner = node
        while dotted and isinstance(inner, ast.Attribute):
            inner = inner.value
        if isinstance(inner, ast.Name):
            return ast.unparse(node)
        wanted = "a name such as A or self.A" if dotted else "a name"
        self.add_mismatch(self.arguments.place_of(node), clause, wanted, node)
        return None

    def whole(self, node: ast.expr, clause: str, least: int) -> int | None:
        """A whole number, at least ``least``."""
        value = self._constant(node)
        if type(value) is int and value >= least:
            return value
        self.add_mismatch(self.arguments.place_of(node), clause, f"a whole number of at least {least}", node)
        return None

    def number(self, node: ast.expr, clause: str) -> float | None:
        """A finite number that is not negative."""
        value = self._constant(node)
        if type(value) is float or type(value) is int:
            try:
                if math.isfinite(value) and value >= 0:
                    return float(value)
            except OverflowError:
                pass
        self.add_mismatch(self.arguments.place_of(node), clause, "a finite number that is not negative", node)
        return None

    def choice(self, node: ast.expr, clause: str, known: tuple[str, ...]) -> str | None:
        """One of the words ``known``."""
        word = node.id if isinstance(node, ast.Name) else ""
        if word in known:
            return word
        hint = nearest(word, known) if word else ""
        self.add_mismatch(self.arguments.place_of(node), clause, f"one of {', '.join(known)}", node, hint)
        return None

    def _constant(self, node: ast.expr) -> object:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:57] + "..."
