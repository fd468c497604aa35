"""What is asked of a body, to see which help fits; and what a choice of help is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.enclosing_statements import statements_before
from dlbc.analysis.uses import every_node

#: A case of the catalogue, and the fields of its help; None where no case fits.
Choice: TypeAlias = tuple[str, dict[str, str]] | None


def stores_through(context: AnalysisContext, name: str) -> Iterator[ast.Subscript]:
    """The subscripts by which the body stores into what is found through a name."""
    for node in (n for s in context.body for n in every_node(s)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and chain_root(node) == name:
            yield node


def chain_root(node: ast.expr) -> str:
    """The name that a chain of attributes and subscripts begins with; empty for another expression."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def made_by(context: AnalysisContext, name: str) -> ast.expr | None:
    """The value that the last assignment before the loop gives to a name."""
    found: ast.expr | None = None
    for statement in statements_before(context.loop):
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                found = value
    return found


def counts_with(node: ast.AST, context: AnalysisContext) -> bool:
    """Whether a target of the loop occurs in an expression."""
    return not {*context.names.targets}.isdisjoint(names_in(node))


def names_in(node: ast.AST) -> set[str]:
    """The names that occur in a node."""
    return {part.id for part in every_node(node) if isinstance(part, ast.Name)}
