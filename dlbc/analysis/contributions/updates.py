"""Recognise the statements by which iterations contribute to a value, from their text alone.

A statement contributes to a name or to an element if the old value is one operand and the new value is the
result: ``s += e``, ``s = s + e``, ``s = max(s, e)``, ``s = s and e``, ``hist[k] = hist[k] + e``,
``d[k] = d.get(k, 0) + e``, ``np.add.at(hist, k, e)``, ``np.maximum(best, e, out=best)``. What is updated is a
name or an access path (``self.total``, ``best["v"]``). `selections` has the statements that compare. The pass
checks that the rest of the body leaves the value alone.
"""

from __future__ import annotations

import ast

from dlbrt.records import dataclass

from dlbc.analysis.names import full_name
from dlbc.ir.access_path import AccessPath, path_of
from dlbc.ir.region import ModuleNames
from dlbc.library.table import lookup

#: Operators by their nodes, and those of numpy's updates in place.
OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip

#: The operator of stores to an attribute, of which the last one counts.
LAST = "="

_AT = frozenset({*OPERATORS.values(), "max", "min"})


@dataclass(frozen=True)
class Target:
    """What an update stores to: the value at ``path``, or the element of it under ``key``.

    ``holder`` is the expression of the path, ``root`` the name in it.
    """

    path: AccessPath
    holder: ast.expr
    root: ast.Name
    key: ast.expr | None = None


@dataclass(frozen=True)
class Update:
    """One statement that contributes to the value at ``path``, or to an element of it.

    ``holders``: the expressions of the path in the statement; ``mentions``: the names in them. ``values``:
    the contributions; ``operand_sides``: the sides of the operator on which they stand. ``companions`` of a
    selection, the texts of paths, take a value when ``path`` does; ``companion_holders`` and
    ``companion_mentions`` are their expressions and names. ``none_first``: the selection takes any value in
    place of None; ``by``: of values this part is compared, ``[0]`` or ``.cost``;
    ``may_change``: it may be another one later, as that of an object which has other names.
    """

    path: AccessPath
    operator: str
    statement: ast.stmt
    holders: frozenset[ast.AST]
    mentions: frozenset[ast.AST]
    values: tuple[ast.expr, ...]
    element: bool = False
    operand_sides: frozenset[str] = frozenset()
    companions: tuple[str, ...] = ()
    companion_holders: frozenset[ast.AST] = frozenset()
    companion_mentions: frozenset[ast.AST] = frozenset()
    none_first: bool = False
    by: str = ""
    may_change: bool = False

    @property
    def name(self) -> str:
        """The text of the path."""
        return self.path.text

    @property
    def family(self) -> str:
        """The operator that all updates of a name must share; subtraction belongs to sums."""
        return "+" if self.operator == "-" else self.operator


@dataclass(frozen=True)
class _Part:
    """An operand that contains the old value: operators applied, where it is read, other operands."""

    operators: frozenset[str]
    read: tuple[Target, ...]
    values: tuple[ast.expr, ...]
    sides: frozenset[str] = frozenset()


_LEFT, _RIGHT = frozenset({"left"}), frozenset({"right"})


def target_of(node: ast.expr) -> Target | None:
    """The expression as a target of updates: an element under any key if it is subscripted, or a path."""
    if isinstance(node, ast.Subscript):
        found = path_of(node.value)
        return None if found is None else Target(found[0], node.value, found[1], node.slice)
    return at_path(node)


def at_path(node: ast.expr) -> Target | None:
    """The expression as a target that is a path."""
    found = path_of(node)
    return None if found is None else Target(found[0], node, found[1])


def update_of(node: ast.stmt, module: ModuleNames, *, by_path: bool = False) -> Update | None:
    """The statement as an update other than a selection, or None.

    What is updated under a constant key is an element of a container, or ``by_path`` a value of its own.
    """
    match node:
        case ast.AugAssign(target=target, op=op, value=value):
            at = (at_path if by_path else target_of)(target)
            if at is None or type(op) not in OPERATORS:
                return None
            return _made(node, at, _Part(frozenset({OPERATORS[type(op)]}), (), (value,), _RIGHT))
        case ast.Assign(targets=[target], value=value):
            at = (at_path if by_path else target_of)(target)
            if at is None:
                return None
            part = _operands(value, at, module) or _extreme(value, at, module)
            part = part or _logical(value, at, module)
            return None if part is None or not part.operators else _made(node, at, part)
        case ast.Expr(value=ast.Call() as call):
            return _update_by_call(node, call, module)
    return None


def store_of(node: ast.stmt) -> Update | None:
    """The statement as a store to an attribute, of which the last one counts; None if it is none."""
    match node:
        case ast.Assign(targets=[ast.Attribute() as target], value=value) if (
            at := at_path(target)
        ) is not None:
            return _made(node, at, _Part(frozenset({LAST}), (), (value,)))
    return None


def _update_by_call(node: ast.Expr, call: ast.Call, module: ModuleNames) -> Update | None:
    """``np.add.at(hist, k, e)`` and ``np.maximum(best, e, out=best)``."""
    function, _, method = full_name(call.func, module).rpartition(".")
    match call:
        case ast.Call(args=[array, _, value], keywords=[]) if method == "at":
            operator, at = lookup(function).operator, at_path(array)
            read: tuple[Target, ...] = ()
        case ast.Call(args=[one, other], keywords=[ast.keyword(arg="out", value=array)]):
            operator, at = lookup(f"{function}.{method}").operator, at_path(array)
            parts = [(part, at and _old(part, at, module)) for part in (one, other)]
            old, values = [held for _, held in parts if held], [part for part, held in parts if not held]
            if len(old) != 1:
                return None
            value, read = values[0], (old[0],)
        case _:
            return None
    if at is None or operator not in _AT:
        return None
    return _made(node, at, _Part(frozenset({operator}), read, (value,)), element=True)


def _made(node: ast.stmt, target: Target, part: _Part, *, element: bool = False) -> Update:
    return Update(
        path=target.path,
        operator=max(part.operators),  # "-" where any operand is subtracted
        statement=node,
        holders=frozenset({target.holder, *(t.holder for t in part.read)}),
        mentions=frozenset({target.root, *(t.root for t in part.read)}),
        values=part.values,
        element=element or target.key is not None,
        operand_sides=part.sides,
    )


def _old(node: ast.expr, target: Target, module: ModuleNames) -> Target | None:
    """Where ``node`` reads what ``target`` stores to, if it does."""
    if target.key is None:
        found = at_path(node)
        return found if found is not None and found.path == target.path else None
    match node:
        case ast.Subscript(value=held, slice=key):
            pass
        case ast.Call(func=ast.Attribute(value=held, attr="get"), args=[key, ast.Constant()], keywords=[]):
            pass
        case _:
            return None
    found = at_path(held)
    same = found is not None and found.path == target.path and _same_key(key, target.key, module)
    return found if same else None


def _same_key(one: ast.expr, other: ast.expr, module: ModuleNames) -> bool:
    return ast.dump(one) == ast.dump(other) and is_repeatable(one, module)


def _operands(value: ast.expr, target: Target, module: ModuleNames) -> _Part | None:
    """``s + a``, ``a + s``, ``s + a - b``: the old value occurs once, all operators are of one kind."""
    old = _old(value, target, module)
    if old is not None:
        return _Part(frozenset(), (old,), ())
    if not isinstance(value, ast.BinOp) or type(value.op) not in OPERATORS:
        return None
    operator = OPERATORS[type(value.op)]
    part = _operands(value.left, target, module)
    side, operand = _RIGHT, value.right
    if part is None and operator != "-":
        part, side, operand = _operands(value.right, target, module), _LEFT, value.left
    if part is None:
        return None
    operators = part.operators | {operator}
    if len(operators) > 1 and operators != {"+", "-"}:
        return None
    return _Part(operators, part.read, (*part.values, operand), part.sides | side)


def _extreme(value: ast.expr, target: Target, module: ModuleNames) -> _Part | None:
    """``max(s, e)``, ``max(e, s)``: the comparison decides which of equal values stays."""
    match value:
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, _, *_] as parts, keywords=[]):
            old = {part: held for part in parts if (held := _old(part, target, module)) is not None}
            starred = any(isinstance(p, ast.Starred) for p in parts)
            if module.builtin(name) and len(old) == 1 and not starred:
                rest = tuple(p for p in parts if p not in old)
                return _Part(frozenset({name}), tuple(old.values()), rest)
    return None


def _logical(value: ast.expr, target: Target, module: ModuleNames) -> _Part | None:
    """``s and e``: ``e`` must be repeatable, since it is not evaluated any more once ``s`` is false."""
    match value:
        case ast.BoolOp(op=op, values=[first, *rest]):
            old = _old(first, target, module)
            if old is not None and all(is_repeatable(e, module) for e in rest):
                operator = "and" if isinstance(op, ast.And) else "or"
                return _Part(frozenset({operator}), (old,), tuple(rest))
    return None


def is_repeatable(node: ast.expr, module: ModuleNames) -> bool:
    """Whether evaluating it once more, or once less, makes a difference in time only."""
    for part in ast.walk(node):
        if isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Lambda):
            return False
        if isinstance(part, ast.Call) and not _only_reads(part, module):
            return False
    return True


def _only_reads(call: ast.Call, module: ModuleNames) -> bool:
    if (row := lookup(full_name(call.func, module))).known:
        return row.is_repeatable and not call.keywords
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    row = lookup(f".{method}")
    return row.known and row.is_repeatable and method not in module.methods
