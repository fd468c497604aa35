"""Checks that are made once for a strip: after it has been computed, before anything of it is stored.

``if not_finite(value): return i`` leaves iteration ``i`` to Python, and what comes after it. In each
iteration of a strip it becomes ``doubt = 1.0 if not_finite(value) else doubt``.

Theorem. Let an iteration store nothing before its last check. Then the strip can be computed as if no check
had failed, and if indeed none has, this is what it does as written. Otherwise nothing has been stored, and
the strip is run as written, which leaves the right iteration to Python. What is computed after a check has
failed must do no harm: floats alone are checked (`Nest`), for being finite or not zero; there is no ``//``
and no ``%``, and subscripts do not depend on a check.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from dlbc.native.restructure.body import accesses, assigned, check, loop_targets
from dlbc.native.restructure.floats import index_names
from dlbc.native.restructure.nest import CannotRestructureError, Nest
from dlbc.native.restructure.trees import Fresh, replaced

#: The runtime's checks of floats, by the last part of their names.
_CHECKS = frozenset(("not_finite", "is_zero"))


def deferred(nest: Nest, fresh: Fresh) -> Nest:
    """The nest with its checks as values, and a statement ``doubt`` where they must have been made."""
    assert isinstance(nest.loop.target, ast.Name)
    doubt = fresh("doubt")
    change = _Checks(nest.loop.target.id, doubt)
    body = [change.visit(replaced(each, lambda _: None)) for each in nest.loop.body]
    last = max((k for k, each in enumerate(body) if doubt in assigned([each])), default=-1)
    computed, rest = [*ast.parse(f"{doubt} = 0.0").body, *body[: last + 1]], body[last + 1 :]
    if last < 0 or any(each.is_store for each in accesses(computed)):
        raise CannotRestructureError("an iteration stores something before its last check")
    if any(isinstance(n, ast.FloorDiv | ast.Mod) for each in computed for n in ast.walk(each)):
        raise CannotRestructureError("an iteration computes with integers that it checks")
    scalars = assigned([*computed, *rest]) - loop_targets([*computed, *rest])
    if scalars & index_names([*computed, *rest]):
        raise CannotRestructureError("subscripts depend on what an iteration computes")
    calls = nest.pure_calls | change.calls
    new = replace(nest, pure_calls=calls, in_order=False)
    check(replace(new, loop=with_body(nest.loop, [*computed, *rest])))
    mark = ast.Expr(ast.Name(doubt, ast.Load()))
    return replace(new, loop=with_body(nest.loop, [*computed, mark, *rest]))


def with_body(loop: ast.For, body: Sequence[ast.stmt]) -> ast.For:
    """A loop with another body."""
    return ast.For(loop.target, loop.iter, [*body], [], lineno=0, col_offset=0)


class _Checks(ast.NodeTransformer):
    """Makes values of checks; ``calls`` are functions that give what is checked, and the checks."""

    def __init__(self, index: str, doubt: str) -> None:
        self._index, self._doubt = index, doubt
        self.calls: set[str] = set()
        self._values: dict[str, str] = {}

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)):
                self._values[name] = ast.unparse(function)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        match node:
            case ast.If(
                test=ast.Call(func=ast.Attribute(attr=kind) as function, args=[argument]),
                body=[ast.Return(value=ast.Name(id=index))],
                orelse=[],
            ) if kind in _CHECKS and index == self._index:
                self.calls.add(ast.unparse(function))
                if kind == "not_finite" and isinstance(argument, ast.Name) and argument.id in self._values:
                    self.calls.add(self._values[argument.id])
                chosen = ast.IfExp(node.test, ast.Constant(1.0), ast.Name(self._doubt, ast.Load()))
                made = ast.Assign([ast.Name(self._doubt, ast.Store())], chosen, lineno=0, col_offset=0)
                return ast.fix_missing_locations(made)
        return self.generic_visit(node)
