"""The names of a piece of code in the order of the text: by its number a name is found in any tree of it.

Positions would serve where trees are exact; within f-strings CPython's are not before 3.12, and the lossless
tree has none without another pass. Anchors are the names that are expressions or targets, and lambdas.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.uses import children_of

__all__ = ["Anchor", "anchors_of", "children_in_order"]

Anchor = ast.Name | ast.Lambda


def anchors_of(root: ast.AST) -> tuple[Anchor, ...]:
    """All names and lambdas below ``root``, in the order of the text; a lambda before what is in it."""
    found: list[Anchor] = []
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Anchor):
            found.append(node)
        waiting.extend(reversed(children_in_order(node)))
    return tuple(found)


def children_in_order(node: ast.AST) -> list[ast.AST]:
    """What a node consists of, in the order of the text."""
    if isinstance(node, ast.JoinedStr):
        return list(node.values)
    if isinstance(node, ast.FormattedValue):
        return [node.value] if node.format_spec is None else [node.value, node.format_spec]
    return sorted(_placed(node), key=lambda n: (n.lineno, n.col_offset))  # type: ignore[attr-defined]


def _placed(node: ast.AST) -> Iterator[ast.AST]:
    """The nearest nodes below that have a place: comprehensions, argument lists and the like have none."""
    for child in children_of(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed(child)
