"""Recognise ``if new < best: best, where = new, i``: a selection of the best value so far.

The comparison must be of the value that is then taken, so that the best of some iterations can be compared
with the best of others in the same way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.region import ModuleNames
from dlbc.ir.updates import Update, is_repeatable
from dlbc.ir.uses import uses_of

__all__ = ["resembles_selection", "selection_of"]

_OPERATORS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
Pair = tuple[ast.Name, ast.expr]


def selection_of(node: ast.stmt, module_names: ModuleNames) -> Update | None:
    """The selection that a statement is, or None where its form is not clear."""
    match node:
        case ast.If(test=test, body=body, orelse=[] | [ast.Pass()]):
            compared = test.values[-1] if isinstance(test, ast.BoolOp) and _conjunction(test) else test
            pairs = _pairs(body)
        case ast.Assign(targets=[ast.Name() as target], value=ast.IfExp(test=compared, body=new, orelse=old)):
            if not (isinstance(old, ast.Name) and old.id == target.id):
                return None
            pairs = [(target, new)]
        case _:
            return None
    if pairs is None or not isinstance(compared, ast.Compare) or len(compared.ops) != 1:
        return None
    operator = _OPERATORS.get(type(compared.ops[0]))
    if operator is None:
        return None
    for new, old, sign in (
        (compared.left, compared.comparators[0], operator),
        (compared.comparators[0], compared.left, _MIRRORED[operator]),
    ):
        if isinstance(old, ast.Name) and _chosen(new, old, pairs, module_names):
            return _made(node, old, sign, new, pairs)
    return None


def resembles_selection(node: ast.stmt, name: str) -> bool:
    """Whether a condition on the name decides if it is bound."""
    return isinstance(node, ast.If) and any(u.name == name for u in uses_of(node.test)) and any(
        target.id == name for statement in node.body for target in _targets(statement)
    )  # fmt: skip


def _targets(node: ast.stmt) -> Iterator[ast.Name]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from (n for n in ast.walk(target) if isinstance(n, ast.Name))


def _conjunction(node: ast.BoolOp) -> bool:
    return isinstance(node.op, ast.And)


def _pairs(body: list[ast.stmt]) -> list[Pair] | None:
    """The names that the branch binds, each with its value; None if it does anything else."""
    found: list[Pair] = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name() as name], value=value):
                found.append((name, value))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = list(zip(names, values, strict=False))
                if len(names) != len(values) or any(isinstance(v, ast.Starred) for v in values):
                    return None
                for target, value in pairs:
                    if not isinstance(target, ast.Name):
                        return None
                    found.append((target, value))
            case ast.Pass():
                pass
            case _:
                return None
    names_bound = [name.id for name, _ in found]
    return found if len(set(names_bound)) == len(names_bound) else None


def _chosen(new: ast.expr, old: ast.Name, pairs: list[Pair], module_names: ModuleNames) -> bool:
    """Whether the branch binds ``old`` to the value compared, and nothing in it depends on what it binds."""
    taken = next((value for name, value in pairs if name.id == old.id), None)
    if taken is None:
        return False
    own = {name.id for name, _ in pairs}
    if not all(
        is_repeatable(value, module_names) for _, value in pairs
    ):  # a rank takes more of them than the program
        return False
    if isinstance(new, ast.NamedExpr):  # if (v := f(i)) < best: best = v
        same = isinstance(taken, ast.Name) and taken.id == new.target.id and new.target.id not in own
        read = [value for _, value in pairs]
    else:
        same = ast.dump(taken) == ast.dump(new) and is_repeatable(new, module_names)
        read = [new, *(value for _, value in pairs)]
    return same and not any(
        u.name in own or isinstance(part, ast.NamedExpr)
        for value in read for part in ast.walk(value) for u in uses_of(value)
    )  # fmt: skip


def _made(node: ast.stmt, old: ast.Name, operator: str, new: ast.expr, pairs: list[Pair]) -> Update:
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
