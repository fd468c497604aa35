"""Recognise the statements by which iterations contribute to a value, from their text alone.

A statement contributes to a name or to an element if the old value is one operand and the new value is the
result: ``s += e``, ``s = s + e``, ``s = max(s, e)``, ``s = s and e``, ``hist[k] = hist[k] + e``,
``d[k] = d.get(k, 0) + e``, ``np.add.at(hist, k, e)``. A selection, ``if new < best: best, where = new, i``,
keeps the best value so far; it must compare the value that it then takes, so that the best of some iterations
can be compared with the best of others in the same way. The pass checks that the rest of the body leaves the
value alone.
"""

from __future__ import annotations

import ast

from dlbrt.records import dataclass

from dlbc.analysis.names import full_name
from dlbc.analysis.uses import uses_of
from dlbc.ir.region import ModuleNames
from dlbc.library.table import lookup

#: Operators by their nodes, those of numpy's unbuffered updates of elements (``np.add.at``), and comparisons.
OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip

_AT = frozenset({*OPERATORS.values(), "max", "min"})
_COMPARISONS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

UpdateTarget = ast.Name | ast.Subscript
_Pair = tuple[ast.Name, ast.expr]


@dataclass(frozen=True)
class Update:
    """One statement that contributes to ``name``, or to an element of its object.

    ``mentions``: the nodes of the statement that name it. ``values``: the contributions; ``operand_sides``:
    the sides of the operator on which they stand. ``companions`` of a selection take a value when ``name``
    does; ``contributing_calls`` are the nodes that bind them.
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
        """The operator that all updates of a name must share; subtraction belongs to sums."""
        return "+" if self.operator == "-" else self.operator


@dataclass(frozen=True)
class _Part:
    """An operand that contains the old value: the operators applied, nodes that name it, other operands."""

    operators: frozenset[str]
    mentions: frozenset[ast.AST]
    values: tuple[ast.expr, ...]
    sides: frozenset[str] = frozenset()


_LEFT, _RIGHT = frozenset({"left"}), frozenset({"right"})


def update_of(node: ast.stmt, module: ModuleNames) -> Update | None:
    """The statement as an update other than a selection, or None."""
    match node:
        case ast.AugAssign(target=ast.Name() | ast.Subscript(value=ast.Name()) as target, op=op, value=value):
            if type(op) not in OPERATORS:
                return None
            return _made(node, target, _Part(frozenset({OPERATORS[type(op)]}), frozenset(), (value,), _RIGHT))
        case ast.Assign(targets=[ast.Name() | ast.Subscript(value=ast.Name()) as target], value=value):
            part = _operands(value, target, module) or _extreme(value, target, module)
            part = part or _logical(value, target, module)
            return None if part is None or not part.operators else _made(node, target, part)
        case ast.Expr(value=ast.Call(func=func, args=[ast.Name(id=name) as array, _, value], keywords=[])):
            function, _, method = full_name(func, module).rpartition(".")
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


def _old(node: ast.expr, target: UpdateTarget, module: ModuleNames) -> ast.Name | None:
    """The node that names the object, if ``node`` reads what ``target`` stores to."""
    match node, target:
        case ast.Name(id=name), ast.Name(id=found) if name == found:
            return node
        case ast.Subscript(value=ast.Name(id=name) as held, slice=key), ast.Subscript(
            value=ast.Name(id=found), slice=stored
        ) if name == found:
            return held if _same_key(key, stored, module) else None
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name) as held, attr="get"),
            args=[key, ast.Constant()], keywords=[],
        ), ast.Subscript(value=ast.Name(id=found), slice=stored) if name == found:  # fmt: skip
            return held if _same_key(key, stored, module) else None
    return None


def _same_key(one: ast.expr, other: ast.expr, module: ModuleNames) -> bool:
    return ast.dump(one) == ast.dump(other) and is_repeatable(one, module)


def _operands(value: ast.expr, target: UpdateTarget, module: ModuleNames) -> _Part | None:
    """``s + a``, ``a + s``, ``s + a - b``: the old value occurs once, all operators are of one kind."""
    old = _old(value, target, module)
    if old is not None:
        return _Part(frozenset(), frozenset({old}), ())
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
    return _Part(operators, part.mentions, (*part.values, operand), part.sides | side)


def _extreme(value: ast.expr, target: UpdateTarget, module: ModuleNames) -> _Part | None:
    """``max(s, e)``, ``max(e, s)``: the comparison decides which of equal values stays."""
    match value:
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, _, *_] as parts, keywords=[]):
            old = {part: held for part in parts if (held := _old(part, target, module)) is not None}
            starred = any(isinstance(p, ast.Starred) for p in parts)
            if module.builtin(name) and len(old) == 1 and not starred:
                rest = tuple(p for p in parts if p not in old)
                return _Part(frozenset({name}), frozenset(old.values()), rest)
    return None


def _logical(value: ast.expr, target: UpdateTarget, module: ModuleNames) -> _Part | None:
    """``s and e``: ``e`` must be repeatable, since it is not evaluated any more once ``s`` is false."""
    match value:
        case ast.BoolOp(op=op, values=[first, *rest]):
            old = _old(first, target, module)
            if old is not None and all(is_repeatable(e, module) for e in rest):
                operator = "and" if isinstance(op, ast.And) else "or"
                return _Part(frozenset({operator}), frozenset({old}), tuple(rest))
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


def selection_of(node: ast.stmt, module: ModuleNames) -> Update | None:
    """The statement as a selection, or None if it is not clearly one."""
    match node:
        case ast.If(test=test, body=body, orelse=[] | [ast.Pass()]):
            is_and = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
            compared = test.values[-1] if isinstance(test, ast.BoolOp) and is_and else test
            pairs = _pairs(body)
        case ast.Assign(targets=[ast.Name() as target], value=ast.IfExp(test=compared, body=new, orelse=old)):
            if not (isinstance(old, ast.Name) and old.id == target.id):
                return None
            pairs = [(target, new)]
        case _:
            return None
    if pairs is None or not isinstance(compared, ast.Compare) or len(compared.ops) != 1:
        return None
    operator = _COMPARISONS.get(type(compared.ops[0]))
    if operator is None:
        return None
    for new, old, sign in (
        (compared.left, compared.comparators[0], operator),
        (compared.comparators[0], compared.left, _MIRRORED[operator]),
    ):
        if isinstance(old, ast.Name) and _chosen(new, old, pairs, module):
            return _made_selections(node, old, sign, new, pairs)
    return None


def resembles_selection(node: ast.stmt, name: str) -> bool:
    """Whether a condition on the name decides whether the name is bound."""
    if not isinstance(node, ast.If) or all(u.name != name for u in uses_of(node.test)):
        return False
    targets = [target for s in node.body if isinstance(s, ast.Assign) for target in s.targets]
    return any(isinstance(n, ast.Name) and n.id == name for target in targets for n in ast.walk(target))


def _pairs(body: list[ast.stmt]) -> list[_Pair] | None:
    """The names that the branch binds, each with its value; None if the branch does anything else."""
    bound: list[_Pair] = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name() as name], value=value):
                bound.append((name, value))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = list(zip(names, values, strict=False))
                if len(names) != len(values) or any(isinstance(v, ast.Starred) for v in values):
                    return None
                for target, value in pairs:
                    if not isinstance(target, ast.Name):
                        return None
                    bound.append((target, value))
            case ast.Pass():
                pass
            case _:
                return None
    return bound if len({name.id for name, _ in bound}) == len(bound) else None


def _chosen(new: ast.expr, old: ast.Name, pairs: list[_Pair], module: ModuleNames) -> bool:
    """Whether the branch binds ``old`` to the value compared, and no value in it depends on what it binds."""
    taken = next((value for name, value in pairs if name.id == old.id), None)
    if taken is None:
        return False
    own = {name.id for name, _ in pairs}
    if not all(is_repeatable(value, module) for _, value in pairs):
        return False  # the ranks together take more values than the sequential program
    if isinstance(new, ast.NamedExpr):  # if (v := f(i)) < best: best = v
        same = isinstance(taken, ast.Name) and taken.id == new.target.id and new.target.id not in own
        read = [value for _, value in pairs]
    else:
        same = ast.dump(taken) == ast.dump(new) and is_repeatable(new, module)
        read = [new, *(value for _, value in pairs)]
    return same and not any(
        u.name in own or isinstance(part, ast.NamedExpr)
        for value in read for part in ast.walk(value) for u in uses_of(value)
    )  # fmt: skip


def _made_selections(
    node: ast.stmt, old: ast.Name, operator: str, new: ast.expr, pairs: list[_Pair]
) -> Update:
    bound = next(name for name, _ in pairs if name.id == old.id)
    mentions: set[ast.AST] = {old, bound}
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp):
        mentions.add(node.value.orelse)
    others = sorted((name for name, _ in pairs if name.id != old.id), key=lambda n: n.id)
    return Update(
        name=old.id,
        operator=operator,
        statement=node,
        mentions=frozenset(mentions),
        values=(new,),
        companions=tuple(name.id for name in others),
        contributing_calls=frozenset(others),
    )
