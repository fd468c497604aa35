"""Read subscripts: which axis takes what, as far as the text shows.

Law: a subscript counts as one integer only where every binding in sight makes it one (a range, `len`, a
literal, arithmetic of those); after one that may be an array, a tuple or a slice, the axes are unknown and
the access is taken to touch everything there. On the first such axis an affine form is kept: the runtime
evaluates it for every iteration and insists on an integer.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from dlbc.ir.access import Subscript
from dlbc.ir.affine import Affine
from dlbc.ir.region import Region
from dlbc.ir.uses import UseKind, own_nodes, uses_of

__all__ = ["Subscripts"]

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


class Subscripts:
    """Subscripts of one region. ``hidden`` maps names of inner scopes to whether they are integers."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._single: dict[str, ast.expr] = {}
        self._integers: set[str] = set()
        self._define(_definitions(region))

    def read(self, node: ast.expr, hidden: Mapping[str, bool]) -> tuple[tuple[Subscript, ...], bool]:
        """The axes of one bracket, and whether a further bracket goes on with the next axis."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        found: list[Subscript] = []
        for part in parts:
            axis = self._axis(part, hidden)
            if axis is not None:
                found.append(axis)
            if axis is None or not (axis.integer or isinstance(part, ast.Slice)):
                return tuple(found), False
        return tuple(found), not any(isinstance(part, ast.Slice) for part in parts)

    def _axis(self, node: ast.expr, hidden: Mapping[str, bool]) -> Subscript | None:
        if isinstance(node, ast.Slice):
            full = node.lower is None and node.upper is None and node.step is None
            return Subscript(ast.unparse(node), full=full)
        if isinstance(node, ast.Starred) or (isinstance(node, ast.Constant) and type(node.value) is not int):
            return None
        return Subscript(
            self._text(node, hidden), self.affine(node, hidden), integer=self.is_integer(node, hidden)
        )

    def affine(self, node: ast.expr, hidden: Mapping[str, bool]) -> Affine | None:
        """``node`` as an affine form of the index variable, or None."""
        match node:
            case ast.Constant(value=value):
                return Affine.literal(value) if type(value) is int else None
            case ast.Name(id=name):
                return self._affine_name(name, hidden)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                form = self.affine(operand, hidden)
                return None if form is None else -form
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.affine(operand, hidden)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
                a, b = self.affine(left, hidden), self.affine(right, hidden)
                if a is None or b is None:
                    return None
                return a + b if isinstance(op, ast.Add) else a - b if isinstance(op, ast.Sub) else a.times(b)
        return Affine.symbol(self._text(node, hidden)) if self._invariant(node, hidden) else None

    def _affine_name(self, name: str, hidden: Mapping[str, bool]) -> Affine | None:
        if name in hidden:
            return None
        if name == self._region.index:
            return Affine.index()
        if name in self._single:
            return self.affine(self._single[name], hidden)
        return None if name in self._region.own else Affine.symbol(name)

    def _invariant(self, node: ast.expr, hidden: Mapping[str, bool]) -> bool:
        """Whether ``node`` is a dotted name, a form's figure or an integer quotient of such, from outside."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name):
                form = self._affine_name(name, hidden)
                return form is not None and form.coefficient == 0
            case ast.Attribute(value=value):
                return _dotted(node) and self._outside(value, hidden)
            case ast.Subscript(
                value=ast.Attribute(attr="shape", value=value), slice=ast.Constant() | ast.UnaryOp()
            ):
                return _dotted(value) and self._outside(value, hidden)
            case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]):
                return (
                    self._region.module.builtin("len")
                    and _dotted(argument)
                    and self._outside(argument, hidden)
                )
            case ast.Call(func=ast.Name(id="int"), args=[argument], keywords=[]):
                return self._region.module.builtin("int") and self._invariant(argument, hidden)
            case ast.BinOp(left=left, op=op, right=right):
                return (
                    isinstance(op, ARITHMETIC)
                    and self._invariant(left, hidden)
                    and self._invariant(right, hidden)
                )
        return False

    def _outside(self, node: ast.expr, hidden: Mapping[str, bool]) -> bool:
        names = {u.name for u in uses_of(node)}
        return not names & (self._region.own | hidden.keys())

    def is_integer(self, node: ast.expr, hidden: Mapping[str, bool]) -> bool:
        """Whether ``node`` surely is one integer."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name):
                if name in hidden:
                    return hidden[name]
                return name == self._region.index or name in self._integers or name in self._region.integers
            case ast.BinOp(left=left, right=right, op=op):
                return (
                    isinstance(op, ARITHMETIC)
                    and self.is_integer(left, hidden)
                    and self.is_integer(right, hidden)
                )
            case ast.UnaryOp(operand=operand, op=ast.USub() | ast.UAdd()):
                return self.is_integer(operand, hidden)
            case ast.Call(func=ast.Name(id="len" | "int" as name)):
                return self._region.module.builtin(name)
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
                return self._region.module.builtin(name) and len(args) > 1 and all(
                    self.is_integer(a, hidden) for a in args
                )  # fmt: skip
            case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant() | ast.UnaryOp()):
                return True
            case ast.Attribute(attr="size" | "ndim"):
                return True
        return False

    def counts(self, iterable: ast.expr) -> bool:
        """Whether iterating it gives integers: a `range`, also reversed."""
        return _counts(iterable, self._region)

    def _text(self, node: ast.expr, hidden: Mapping[str, bool]) -> str:
        single = {n: v for n, v in self._single.items() if n not in hidden}
        return ast.unparse(_Substitute(single).visit(copy.deepcopy(node))) if single else ast.unparse(node)

    def _define(self, definitions: dict[str, list[ast.expr | bool]]) -> None:
        self._integers = {n for n in definitions if n in self._region.own - self._region.given}
        changed = True
        while changed:
            sure = {n for n in self._integers if all(self._counts_as_integer(d) for d in definitions[n])}
            changed, self._integers = sure != self._integers, sure
        candidates = {n: d[0] for n, d in definitions.items() if len(d) == 1 and isinstance(d[0], ast.expr)}
        settled = True
        while settled:  # a name may stand for its expression once all names in that are settled
            settled = False
            for name in candidates.keys() - self._single.keys() - self._region.given:
                value = candidates[name]
                if isinstance(value, ast.expr) and self.affine(value, {}) is not None:
                    self._single[name], settled = value, True

    def _counts_as_integer(self, definition: ast.expr | bool) -> bool:
        return definition if isinstance(definition, bool) else self.is_integer(definition, {})


class _Substitute(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id)
        return node if value is None else _Substitute(self._values).visit(copy.deepcopy(value))


def _dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _definitions(region: Region) -> dict[str, list[ast.expr | bool]]:
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


def _counts(node: ast.expr, region: Region) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="range")):
            return region.module.builtin("range")
        case ast.Call(func=ast.Name(id="reversed"), args=[argument]):
            return region.module.builtin("reversed") and _counts(argument, region)
    return False
