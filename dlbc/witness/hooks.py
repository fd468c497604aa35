"""Calls to the watcher, put around expressions of the program, and the walk that puts them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import cast

from dlbc.ir.loop import Module
from dlbc.witness.record import AccessSite
from dlbc.witness.scopes import VariableScope, VariableScopes

__all__ = ["FRAME", "VALUES", "WATCHER", "HookInserter"]

#: What the watcher is called in rewritten programs, and how names of frames begin.
WATCHER = "_dlb_watch"
FRAME = "_dlb_frame_"
#: Expressions that may give an object that others have.
VALUES = (ast.Name, ast.Subscript, ast.Attribute, ast.Call, ast.NamedExpr, ast.IfExp)


class HookInserter(ast.NodeTransformer):
    """Where the walk is, and calls that can be put there.

    ``site`` gives the number of a place; ``space`` tells the variables of this module from those of others.
    """

    def __init__(
        self, module: Module, scopes: VariableScopes, site: Callable[[AccessSite], int], space: int
    ) -> None:
        self._source, self._scopes = module.source, scopes
        self._site_number, self._space = site, space
        self._scope = scopes.of[module.tree]
        self._classes: list[str] = []
        self._kinds: dict[ast.AST, str] = {}

    def _hook(self, name: str, at: ast.AST, *arguments: ast.expr | str | int | None) -> ast.Call:
        function = ast.Attribute(ast.Name(WATCHER, ast.Load()), name, ast.Load())
        given = [a if isinstance(a, ast.expr) else ast.Constant(a) for a in arguments]
        return ast.copy_location(ast.Call(function, given, []), at)

    def _site(self, node: ast.expr | ast.stmt, text: ast.expr | str) -> int:
        words = text if isinstance(text, str) else ast.unparse(text)
        return self._site_number(AccessSite(self._source, self._source.place_of(node), words))

    def _visit(self, node: ast.expr) -> ast.expr:
        return cast(ast.expr, self.visit(node))

    def _used(self, node: ast.expr, hook: str = "use") -> ast.expr:
        """An operand whose elements, if it has any, are read by what it is an operand of."""
        visited = self._visit(node)
        if isinstance(node, VALUES):
            return self._hook(hook, node, visited, self._site(node, node))
        return visited

    def _token(self, owner: VariableScope) -> ast.expr:
        """What tells one call's variable from another's."""
        if owner.is_function:
            return ast.Name(f"{FRAME}{owner.number}", ast.Load())
        return ast.Constant(-(self._space * 1_000_000 + owner.number + 1))

    def _carried(self, name: str) -> VariableScope | None:
        owner = self._scopes.owner(self._scope, name)
        return owner if name in owner.carried else None
