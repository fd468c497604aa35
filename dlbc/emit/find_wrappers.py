"""Which calls in the user's iterable the plan writes as the runtime's (``enumerate``, ``zip``, ``reversed``).

The plan gives the iterable as text; the rewrite keeps the user's own tree, comments included. The two
have the same calls, and a call is named in all trees by its ordinal in the order of the text.
"""

from __future__ import annotations

import ast

__all__ = ["find_wrappers"]


def find_wrappers(iterable: ast.expr, planned: str) -> frozenset[int]:
    """Ordinals of the calls whose function becomes the runtime's."""
    ours = _calls(iterable)
    theirs = _calls(ast.parse(f"(\n{planned}\n)", mode="eval").body)
    order = sorted(
        ours, key=lambda c: (c.lineno, c.col_offset, -(c.end_lineno or 0), -(c.end_col_offset or 0))
    )
    changed = {
        id(one)
        for one, two in zip(ours, theirs, strict=True)
        if _is_plain(one.func) and not _is_plain(two.func)
    }
    return frozenset(k for k, call in enumerate(order) if id(call) in changed)


def _calls(tree: ast.expr) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _is_plain(function: ast.expr) -> bool:
    return isinstance(function, ast.Name)
