"""Read the values that clauses take: names, whole numbers, choices; each says what it expected.

A reader returns the value, or None after it has noted why there is none; so that a clause can go on and
all faults of an annotation are reported at once.
"""

from __future__ import annotations

import ast
import math
from dataclasses import field

from dlbrt.contract import nearest
from dlbrt.records import dataclass

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.parse.argument_list import ArgumentList
from dlbc.source import SourcePlace

__all__ = ["ClauseReader"]


@dataclass(frozen=True)
class ClauseReader:
    """Values out of one annotation's arguments; ``problems`` collects what was wrong with them."""

    arguments: ArgumentList
    problems: list[Diagnostic] = field(default_factory=list)

    def add_problem(self, code: str, place: SourcePlace, **fields: str) -> None:
        """Note a diagnostic."""
        self.problems.append(report(code, place, "", (), **fields))

    def add_mismatch(
        self, place: SourcePlace, clause: str, wanted: str, found: ast.expr | str, hint: str = ""
    ) -> None:
        """Note that ``clause`` wanted something else (DLB111); ``hint`` as `nearest` gives it."""
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
