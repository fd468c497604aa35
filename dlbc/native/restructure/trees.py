"""Making statements and expressions, always new ones: trees that are given are never changed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, cast

from dlbc.native.restructure.body import element
from dlbc.native.restructure.forms import Form, form, name

Replace = Callable[[ast.expr], ast.expr | None]
T = TypeVar("T", bound=ast.AST)


class Fresh:
    """Gives new names."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    @property
    def all(self) -> frozenset[str]:
        """All names that it does not give."""
        return frozenset(self._taken)

    def __call__(self, wanted: str) -> str:
        """The wanted name; if it is taken, one with another number behind it."""
        found, count = wanted, 1
        stem = wanted.rstrip("0123456789") or wanted
        while found in self._taken:
            count += 1
            found = f"{stem}{count}"
        self._taken.add(found)
        return found


def expression(text: str) -> ast.expr:
    """An expression from its text."""
    return ast.parse(text, mode="eval").body


def assign(place: str, value: str) -> ast.stmt:
    """An assignment from the texts of its sides."""
    return ast.parse(f"{place} = {value}").body[0]


def for_range(variable: str, first: str, last: str, body: Sequence[ast.stmt], step: str = "1") -> ast.stmt:
    """A loop over a range."""
    texts = [last] if first == "0" and step == "1" else [first, last] if step == "1" else [first, last, step]
    loop = ast.parse(f"for {variable} in range({', '.join(texts)}):\n    pass").body[0]
    assert isinstance(loop, ast.For)
    loop.body = list(body) or loop.body
    return loop


def if_true(test: str, body: Sequence[ast.stmt]) -> ast.stmt:
    """A conditional from the text of its test."""
    made = ast.parse(f"if {test}:\n    pass").body[0]
    assert isinstance(made, ast.If)
    made.body = list(body) or made.body
    return made


class _Replacer(ast.NodeTransformer):
    def __init__(self, replace: Replace) -> None:
        self._replace = replace

    def visit(self, node: ast.AST) -> ast.AST:
        made = self._replace(node) if isinstance(node, ast.expr) else None
        if made is not None:
            return made
        found: ast.AST = self.generic_visit(node)
        return found


def replaced(tree: T, replace: Replace) -> T:
    """A copy in which the outermost expressions for which there is a replacement are replaced."""
    made = cast(T, _Replacer(replace).visit(copy.deepcopy(tree)))
    return ast.fix_missing_locations(made)


def with_value(tree: T, variable: str, value: Form) -> T:
    """A copy with a value for a variable; subscripts that change are written as sums."""

    def replace(each: ast.expr) -> ast.expr | None:
        if isinstance(each, ast.Name) and each.id == variable and isinstance(each.ctx, ast.Load):
            return value.tree
        if not isinstance(each, ast.Subscript):
            return None
        parts = element(each)
        if parts is None or not any(_counts(s, variable) for s in parts[1]):
            return None
        written = [_index(s, variable, value, replace) for s in parts[1]]
        index = written[0] if len(written) == 1 else ast.Tuple(written, ast.Load())
        return ast.Subscript(ast.Name(parts[0], ast.Load()), index, each.ctx)

    return replaced(tree, replace)


def _counts(subscript: ast.expr, variable: str) -> bool:
    """Whether the variable has a factor in a subscript."""
    return not isinstance(subscript, ast.Slice) and bool(form(subscript).factor(variable))


def _index(subscript: ast.expr, variable: str, value: Form, replace: Replace) -> ast.expr:
    if _counts(subscript, variable):
        return form(subscript).with_value(variable, value).tree
    return replaced(subscript, replace)


def plain(each: ast.stmt) -> ast.stmt:
    """``x += e`` as ``x = x + (e)``, which is the same for numbers."""
    if not isinstance(each, ast.AugAssign):
        return each
    left = copy.deepcopy(each.target)
    left.ctx = ast.Load()
    value = ast.BinOp(left, each.op, each.value)
    return ast.fix_missing_locations(ast.Assign([copy.deepcopy(each.target)], value, lineno=0, col_offset=0))


def shifted(variable: str, amount: int) -> Form:
    """The form ``variable + amount``."""
    return name(variable) + form(ast.Constant(amount))
