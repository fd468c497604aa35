"""Which names and expressions of a region surely hold one integer: a greatest fixpoint over definitions."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from dlbc.ir.region import CodeRegion
from dlbc.ir.uses import UseKind, own_nodes, uses_of

__all__ = ["IntegerNames"]

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


class IntegerNames:
    """Integer names of one region."""

    def __init__(self, region: CodeRegion) -> None:
        self._region = region
        self._names: set[str] = set()
        self._define(_definitions(region))

    def sure(self, node: ast.expr, hidden: Mapping[str, bool]) -> bool:
        """Whether ``node`` surely is one integer; ``hidden`` says it of names of inner scopes."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name):
                if name in hidden:
                    return hidden[name]
                outside = self._region.integers | self._region.range_arguments
                return name == self._region.index or name in self._names or name in outside
            case ast.BinOp(left=left, right=right, op=op):
                return isinstance(op, _ARITHMETIC) and self.sure(left, hidden) and self.sure(right, hidden)
            case ast.UnaryOp(operand=operand, op=ast.USub() | ast.UAdd()):
                return self.sure(operand, hidden)
            case ast.Call(func=ast.Name(id="len" | "int" as name)):
                return self._region.module.builtin(name)
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
                return self._region.module.builtin(name) and len(args) > 1 and all(
                    self.sure(a, hidden) for a in args
                )  # fmt: skip
            case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant() | ast.UnaryOp()):
                return True
            case ast.Attribute(attr="size" | "ndim"):
                return True
        return False

    def counts(self, iterable: ast.expr) -> bool:
        """Whether iterating it gives integers: a `range`, also reversed."""
        return _counts(iterable, self._region)

    def _define(self, definitions: dict[str, list[ast.expr | bool]]) -> None:
        self._names = {n for n in definitions if n in self._region.own - self._region.live_in}
        changed = True
        while changed:
            sure = {n for n in self._names if all(self._is_one(d) for d in definitions[n])}
            changed, self._names = sure != self._names, sure

    def _is_one(self, definition: ast.expr | bool) -> bool:
        return definition if isinstance(definition, bool) else self.sure(definition, {})


def _definitions(region: CodeRegion) -> dict[str, list[ast.expr | bool]]:
    """Per own name all its bindings: an expression, or whether it surely is an integer."""
    found: dict[str, list[ast.expr | bool]] = {}
    known: dict[ast.AST, ast.expr | bool] = {}
    for node in own_nodes(region.body):
        match node:
            case ast.Assign(targets=targets, value=value):
                known |= dict.fromkeys(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                known[target] = value
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                known[target] = ast.BinOp(ast.Name(name, ast.Load()), op, value)
            case ast.For(target=ast.Name() as target, iter=iterable):
                known[target] = _counts(iterable, region)
            case ast.For(
                target=ast.Tuple(elts=[ast.Name() as target, _]), iter=ast.Call(func=ast.Name(id="enumerate"))
            ):
                known[target] = region.module.builtin("enumerate")
    for statement in region.body:
        for use in uses_of(statement):
            if use.kind is UseKind.STORE:
                found.setdefault(use.name, []).append(known.get(use.node, False))
    return found


def _counts(node: ast.expr, region: CodeRegion) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="range")):
            return region.module.builtin("range")
        case ast.Call(func=ast.Name(id="reversed"), args=[argument]):
            return region.module.builtin("reversed") and _counts(argument, region)
    return False
