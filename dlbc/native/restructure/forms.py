"""Integer expressions as sums of terms with constant factors, such as ``k - i + 1``.

A product of names, an element of an array or a call is a term of its own, known by its text. Sums are exact
since integers do not overflow.
"""

from __future__ import annotations

import ast
from functools import cached_property

from dlbrt.records import dataclass


@dataclass(frozen=True)
class Form:
    """A sum of ``factor * term``, sorted by the text of the terms; the term "" stands for 1."""

    terms: tuple[tuple[str, int], ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that occur in it."""
        trees = (ast.parse(text, mode="eval") for text, _ in self.terms if text)
        return frozenset(n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name))

    def factor(self, name: str) -> int | None:
        """The factor of a name; None where the name occurs in another term."""
        if name in (self - Form(((name, dict(self.terms).get(name, 0)),))).names:
            return None
        return dict(self.terms).get(name, 0)

    def __add__(self, other: Form) -> Form:
        total = dict(self.terms)
        for text, factor in other.terms:
            total[text] = total.get(text, 0) + factor
        return Form(tuple(sorted((text, factor) for text, factor in total.items() if factor)))

    def __sub__(self, other: Form) -> Form:
        return self + other.times(-1)

    def times(self, factor: int) -> Form:
        """The form multiplied by a constant."""
        return Form(tuple((text, k * factor) for text, k in self.terms if factor))

    def with_value(self, name: str, value: Form) -> Form:
        """The form with a value for a name, whose factor has to be known."""
        factor = dict(self.terms).get(name, 0)
        return self - Form(((name, factor),)) + value.times(factor)

    @property
    def constant(self) -> int | None:
        """Its value, if that is a constant."""
        return dict(self.terms).get("", 0) if all(text == "" for text, _ in self.terms) else None

    @property
    def text(self) -> str:
        """As source text: names with positive factors first, then the others, then the constant."""
        parts = ""
        for text, factor in sorted(self.terms, key=lambda term: (term[0] == "", term[1] < 0, term[0])):
            sign = "-" if factor < 0 else "+" if parts else ""
            size = str(abs(factor)) if not text else text if abs(factor) == 1 else f"{abs(factor)} * {text}"
            parts += f" {sign} {size}" if parts else f"{sign}{size}"
        return parts or "0"

    @property
    def tree(self) -> ast.expr:
        """As an expression."""
        return ast.parse(self.text, mode="eval").body


def constant(value: int) -> Form:
    """The form of an integer."""
    return Form((("", value),) if value else ())


def name(text: str) -> Form:
    """The form of a name or another term."""
    return Form(((text, 1),))


def form(tree: ast.expr) -> Form:
    """The form of an integer expression, or of a slice."""
    match tree:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return form(operand).times(-1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return form(left) + form(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return form(left) - form(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            one, other = form(left), form(right)
            if one.constant is not None:
                return other.times(one.constant)
            if other.constant is not None:
                return one.times(other.constant)
    if isinstance(tree, ast.Slice):
        tree = ast.Call(
            ast.Name("slice"), [each or ast.Constant(None) for each in (tree.lower, tree.upper)], []
        )
    text = ast.unparse(tree)
    return name(text if isinstance(tree, ast.Name | ast.Subscript | ast.Call) else f"({text})")
