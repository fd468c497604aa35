"""Help for values that are carried from one iteration to the next."""

from __future__ import annotations

import ast

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.names import full_name
from dlbc.analysis.remedies.bodies import Choice, names_in
from dlbc.analysis.uses import Node, every_node, unparsed
from dlbc.library.table import lookup

_JOINING = frozenset({"append", "concatenate", "vstack", "hstack", "concat"})

#: Operators that do to arrays of booleans what numpy's functions of that operator do.
_OF_BOOLEANS = {"or": "|", "and": "&"}


def of_carried(node: Node, context: AnalysisContext) -> Choice:
    """A value from the iteration before: a list that grows, a recurrence, or the item before."""
    if not isinstance(node, ast.Name):
        return None
    for statement in (n for s in context.body for n in every_node(s) if isinstance(n, ast.Assign)):
        if any(isinstance(target, ast.Name) and target.id == node.id for target in statement.targets):
            value = statement.value
            if node.id not in names_in(value) and statement.lineno < node.lineno:
                return ("not run", {"name": node.id}) if _is_in_loop(statement, node, context) else None
            if node.id not in names_in(value):
                return "previous", {"name": node.id, "value": unparsed(value)}
            if (written := _as_reduction(value, node.id, context)) is not None:
                return "reduction", {"name": node.id, "written": written}
            joins = isinstance(value, ast.Call) and unparsed(value.func).rpartition(".")[2] in _JOINING
            return ("grows" if joins else "recurrence"), {"name": node.id}
    return None


def of_update(node: Node, context: AnalysisContext) -> Choice:
    """A recurrence, whose steps are used in between or are no steps of a reduction."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return None
    name, value = node.targets[0].id, node.value
    read = [n for s in context.body for n in every_node(s) if isinstance(n, ast.Name) and n.id == name]
    inside = [n for n in every_node(value) if isinstance(n, ast.Name) and n.id == name]
    elsewhere = len(read) > len(inside) + len(node.targets)
    deeper = isinstance(value, ast.BinOp) and inside and not {value.left, value.right} & set(inside)
    return ("recurrence", {"name": name}) if elsewhere or deeper else None


def _is_in_loop(statement: ast.stmt, read: ast.Name, context: AnalysisContext) -> bool:
    """Whether a statement is in an inner loop that a read comes after."""
    inner = (n for s in context.body for n in every_node(s) if isinstance(n, ast.For | ast.While))
    return any((loop.end_lineno or 0) < read.lineno and statement in every_node(loop) for loop in inner)


def _as_reduction(value: ast.expr, name: str, context: AnalysisContext) -> str | None:
    """How ``name = np.maximum(name, e)`` is written as a reduction; None where it is none."""
    match value:
        case ast.Call(func=function, args=[_, _] as args, keywords=[]) if name in map(unparsed, args):
            operator = lookup(full_name(function, context.module)).operator
            given = ", ".join(map(unparsed, args))
            others = [text for text in map(unparsed, args) if text != name]
            if operator in ("max", "min"):
                return f"{unparsed(function)}({given}, out={name})"
            return (
                f"{name} {_OF_BOOLEANS[operator]}= {others[0]}"
                if operator in _OF_BOOLEANS and others
                else None
            )
    return None


def of_augmented(node: Node, _: AnalysisContext) -> Choice:
    """An update in place, with its operator."""
    if not isinstance(node, ast.AugAssign):
        return None
    value = unparsed(node.value) if isinstance(node.value, ast.Name | ast.Constant) else "(...)"
    text = unparsed(ast.BinOp(ast.Name("x"), node.op, ast.Name("y"))).split()[1]
    return "operator", {"name": unparsed(node.target), "operator": text, "value": value}
