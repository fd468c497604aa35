"""Where the statements of a body mention names, and how far the access paths lead that begin there."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dlbc.analysis.uses import every_node
from dlbc.ir.access_path import AccessPath, path_of


def mentions_in(body: Sequence[ast.stmt]) -> dict[str, list[ast.expr | ast.stmt]]:
    """The nodes that mention each name, in nested scopes too."""
    found: dict[str, list[ast.expr | ast.stmt]] = {}
    for node in (n for s in body for n in every_node(s)):
        match node:
            case ast.Name(id=name):
                words = [name]
            case ast.Global(names=words) | ast.Nonlocal(names=words):
                pass
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                words = [(a.asname or a.name).split(".")[0] for a in aliases]
            case _:
                fields = (getattr(node, field, None) for field in ("name", "rest"))
                words = [word for word in fields if isinstance(word, str)]
        for word in words:
            found.setdefault(word, []).append(node)  # type: ignore[arg-type]  # all of these have places
    return found


def chains_in(body: Sequence[ast.stmt]) -> dict[ast.AST, AccessPath]:
    """For each name in the body, the longest path that it begins."""
    found: dict[ast.AST, AccessPath] = {}
    for node in (n for s in body for n in ast.walk(s) if isinstance(n, ast.expr)):  # outer ones come first
        if (chain := path_of(node)) is not None:
            found.setdefault(chain[1], chain[0])
    return found
