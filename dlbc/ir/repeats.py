"""Count how often one iteration may run statements: once at most, or more."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

__all__ = ["may_repeat"]


def may_repeat(body: Iterable[ast.stmt], statements: Set[ast.stmt]) -> bool:
    """Whether one pass through ``body`` may run two of ``statements``, or one of them twice."""
    return _most(body, statements) > 1


def _most(body: Iterable[ast.stmt], wanted: Set[ast.stmt]) -> int:
    return sum(_of(statement, wanted) for statement in body)


def _of(node: ast.stmt, wanted: Set[ast.stmt]) -> int:
    own = int(node in wanted)
    match node:
        case ast.If():
            return own + max(_most(node.body, wanted), _most(node.orelse, wanted))
        case ast.For() | ast.AsyncFor() | ast.While():
            return own + 2 * _most(node.body, wanted) + _most(node.orelse, wanted)
        case ast.Try() | ast.TryStar():
            handled = max((_most(h.body, wanted) for h in node.handlers), default=0)
            return own + _most([*node.body, *node.orelse, *node.finalbody], wanted) + handled
        case ast.With() | ast.AsyncWith():
            return own + _most(node.body, wanted)
        case ast.Match():
            return own + max(_most(case.body, wanted) for case in node.cases)
    return own
