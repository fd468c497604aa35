"""Recognise the statements by which iterations contribute to a value, from their text alone.

A statement contributes to a name or to an element where the old value is one operand and the new value the
result: ``s += e``, ``s = s + e``, ``s = max(s, e)``, ``s = s and e``, ``hist[k] = hist[k] + e``,
``d[k] = d.get(k, 0) + e``, ``np.add.at(hist, k, e)``. Whether the rest of the body leaves the value alone is
for the pass to see.
"""

from __future__ import annotations

import ast

from dlbrt.records import dataclass

from dlbc.ir.region import ModuleNames
from dlbc.library.table import lookup

__all__ = ["OPERATORS", "Update", "is_repeatable", "update_of"]

#: Operators by their nodes.
OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip

#: Those of numpy's unbuffered updates of elements, ``np.add.at``.
_AT = frozenset({*OPERATORS.values(), "max", "min"})


@dataclass(frozen=True)
class Update:
    """One statement that contributes to ``name``, or to an element of its object.

    ``mentions``: the nodes that name it there. ``values``: what is contributed; ``sides``: on which side of
    the operator that stands. ``companions`` of a selection take a value where ``name`` does; ``marks`` are
    the nodes that bind those.
    """

    name: str
    operator: str
    statement: ast.stmt
    mentions: frozenset[ast.AST]
    values: tuple[ast.expr, ...]
    element: bool = False
    operand_sides: frozenset[str] = frozenset()
    companions: tuple[str, ...] = ()
    contributing_calls: frozenset[ast.AST] = frozenset()

    @property
    def family(self) -> str:
        """What all updates of a name must have in common, apart from the companions."""
        return "+" if self.operator == "-" else self.operator


@dataclass(frozen=True)
class _Part:
    """An operand that holds the old value: operators applied to it, nodes that name it, other operands."""

    operators: frozenset[str]
    mentions: frozenset[ast.AST]
    values: tuple[ast.expr, ...]
    sides: frozenset[str] = frozenset()


UpdateTarget = ast.Name | ast.Subscript
_LEFT, _RIGHT = frozenset({"left"}), frozenset({"right"})


def update_of(node: ast.stmt, module_names: ModuleNames) -> Update | None:
    """The update that a statement is, other than a selection."""
    match node:
        case ast.AugAssign(target=ast.Name() | ast.Subscript(value=ast.Name()) as target, op=op, value=value):
            if type(op) not in OPERATORS:
                return None
            return _made(node, target, _Part(frozenset({OPERATORS[type(op)]}), frozenset(), (value,), _RIGHT))
        case ast.Assign(targets=[ast.Name() | ast.Subscript(value=ast.Name()) as target], value=value):
            part = _operands(value, target, module_names) or _extreme(value, target, module_names)
            part = part or _logical(value, target, module_names)
            return None if part is None or not part.operators else _made(node, target, part)
        case ast.Expr(value=ast.Call(func=func, args=[ast.Name(id=name) as array, _, value], keywords=[])):
            function, _, method = _dotted(func, module_names).rpartition(".")
            operator = lookup(function).operator
            if method == "at" and operator in _AT:
                return Update(name, operator, node, frozenset({array}), (value,), element=True)
    return None


def _made(node: ast.stmt, target: UpdateTarget, part: _Part) -> Update:
    name = target if isinstance(target, ast.Name) else target.value
    assert isinstance(name, ast.Name)
    return Update(
        name=name.id,
        operator=max(part.operators),  # "-" where any operand is subtracted
        statement=node,
        mentions=part.mentions | {name},
        values=part.values,
        element=isinstance(target, ast.Subscript),
        operand_sides=part.sides,
    )


def _old(node: ast.expr, target: UpdateTarget, module_names: ModuleNames) -> ast.Name | None:
    """The node that names the object, where ``node`` reads what ``target`` stores to."""
    match node, target:
        case ast.Name(id=name), ast.Name(id=found) if name == found:
            return node
        case ast.Subscript(value=ast.Name(id=name) as held, slice=key), ast.Subscript(
            value=ast.Name(id=found), slice=stored
        ) if name == found:
            return held if _same_key(key, stored, module_names) else None
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name) as held, attr="get"),
            args=[key, ast.Constant()], keywords=[],
        ), ast.Subscript(value=ast.Name(id=found), slice=stored) if name == found:  # fmt: skip
            return held if _same_key(key, stored, module_names) else None
    return None


def _same_key(one: ast.expr, other: ast.expr, module_names: ModuleNames) -> bool:
    return ast.dump(one) == ast.dump(other) and is_repeatable(one, module_names)


def _operands(value: ast.expr, target: UpdateTarget, module_names: ModuleNames) -> _Part | None:
    """``s + a``, ``a + s``, ``s + a - b``: the old value once, all operators of one kind."""
    old = _old(value, target, module_names)
    if old is not None:
        return _Part(frozenset(), frozenset({old}), ())
    if not isinstance(value, ast.BinOp) or type(value.op) not in OPERATORS:
        return None
    operator = OPERATORS[type(value.op)]
    part = _operands(value.left, target, module_names)
    side, operand = _RIGHT, value.right
    if part is None and operator != "-":
        part, side, operand = _operands(value.right, target, module_names), _LEFT, value.left
    if part is None:
        return None
    operators = part.operators | {operator}
    if len(operators) > 1 and operators != {"+", "-"}:
        return None
    return _Part(operators, part.mentions, (*part.values, operand), part.sides | side)


def _extreme(value: ast.expr, target: UpdateTarget, module_names: ModuleNames) -> _Part | None:
    """``max(s, e)``, ``max(e, s)``: which of equal values stays is seen when they are compared."""
    match value:
        case ast.Call(func=ast.Name(id="max" | "min" as word), args=[_, _, *_] as parts, keywords=[]):
            pass
        case _:
            return None
    old = {part: held for part in parts if (held := _old(part, target, module_names)) is not None}
    if not module_names.builtin(word) or len(old) != 1 or any(isinstance(p, ast.Starred) for p in parts):
        return None
    rest = tuple(p for p in parts if p not in old)
    return _Part(frozenset({word}), frozenset(old.values()), rest)


def _logical(value: ast.expr, target: UpdateTarget, module_names: ModuleNames) -> _Part | None:
    """``s and e``: what is not evaluated any more once ``s`` is false must not be missed."""
    match value:
        case ast.BoolOp(op=op, values=[first, *rest]):
            old = _old(first, target, module_names)
            if old is not None and all(is_repeatable(e, module_names) for e in rest):
                word = "and" if isinstance(op, ast.And) else "or"
                return _Part(frozenset({word}), frozenset({old}), tuple(rest))
    return None


def is_repeatable(node: ast.expr, module_names: ModuleNames) -> bool:
    """Whether evaluating it once more, or once less, makes no difference but time."""
    for part in ast.walk(node):
        if isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Lambda):
            return False
        if isinstance(part, ast.Call) and not _looks(part, module_names):
            return False
    return True


def _looks(call: ast.Call, module_names: ModuleNames) -> bool:
    name = _dotted(call.func, module_names)
    if (row := lookup(name)).known:
        return row.is_repeatable and not call.keywords
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    row = lookup(f".{method}")
    return row.known and row.is_repeatable and method not in module_names.methods


def _dotted(node: ast.expr, module_names: ModuleNames) -> str:
    """``builtins.len``, ``numpy.add.at``: what a function is called, as far as imports tell."""
    text = ast.unparse(node)
    root, _, rest = text.partition(".")
    if root in module_names.imports:
        return module_names.imports[root] + ("." + rest if rest else "")
    return f"builtins.{text}" if not rest and module_names.builtin(root) else text
