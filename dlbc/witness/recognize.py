"""Which accesses of the body are contributions to a reduction, and so do not conflict among themselves.

The forms are those that the compiler takes (`dlbc.ir.updates`, `dlbc.ir.selections`), in the body itself:
what a called function updates is not combined in iteration order, and so is an access like any other.
"""

from __future__ import annotations

import ast

from dlbc.ir.region import ModuleNames
from dlbc.ir.selections import selection_of
from dlbc.ir.updates import update_of

__all__ = ["contributions"]


def contributions(statement: ast.stmt, module_names: ModuleNames) -> dict[ast.AST, str]:
    """The nodes by which a statement reads and stores what it contributes to, and their kind of access."""
    update, prefix = update_of(statement, module_names), ""
    if update is None:
        update, prefix = selection_of(statement, module_names), "select "
    if update is None:
        return {}
    kind = prefix + update.family
    if not update.element:
        return dict.fromkeys(update.mentions, kind)
    return {node: kind for node in ast.walk(statement) if _holder(node) in update.mentions}


def _holder(node: ast.AST) -> ast.AST | None:
    """What an element is reached through: `hist` of `hist[k]` and of `hist.get(k, 0)`."""
    match node:
        case ast.Subscript(value=held) | ast.Call(func=ast.Attribute(value=held)):
            return held
    return None
