"""A call of the program's own function as statements, so that what it does is checked like the body itself.

The function's names become fresh ones, and arrays that it is given keep their names at the call. A `return`
inside inner loops leaves them one by one: ``result = value; returned = True; break``, and after each loop
``if returned: break``, all within a loop that runs once.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence

from dlbrt.records import dataclass

from dlbc.analysis.uses import bound_names


@dataclass(frozen=True)
class InlinedCall:
    """``arguments``: fresh names to bind before; ``statements`` bind ``result``, or give it as an
    expression.
    """

    arguments: tuple[tuple[str, ast.expr], ...]
    statements: tuple[ast.stmt, ...]
    result: ast.expr
    names: frozenset[str]


def inline_call(
    function: ast.FunctionDef,
    call: ast.Call,
    fresh: Callable[[str], str],
    is_given: Callable[[ast.expr], bool],
) -> InlinedCall | None:
    """The call as statements; None where its function is not of a kind that can be taken apart.

    ``is_given`` tells of an argument that it means the same throughout the loop, and may stand for the
    parameter.
    """
    pairs = _bound_arguments(function, call)
    body = [s for s in function.body if not _is_text(s)]
    if pairs is None or not body or not _ends(body) or any(map(_is_foreign, _all_nodes(body))):
        return None
    counted = [n.target for n in _all_nodes(body) if isinstance(n, ast.comprehension)]
    if not {name for name, _ in pairs}.isdisjoint(bound_names(counted)):
        return None
    bound = bound_names(body)
    names: dict[str, ast.expr] = {}
    arguments = []
    for name, value in pairs:
        if name not in bound and is_given(value):
            names[name] = value
        else:
            new = fresh(name)
            names[name] = ast.Name(new, ast.Load())
            arguments.append((new, value))
    for name in bound:
        if name not in names:
            names[name] = ast.Name(fresh(name), ast.Load())
    renamed = [_Renamer(names).visit(copy.deepcopy(s)) for s in body]
    own = frozenset(
        n.id
        for n in names.values()
        if isinstance(n, ast.Name) and n.id not in {ast.unparse(v) for _, v in pairs}
    )
    last = renamed[-1]
    returns = [n for n in _all_nodes(renamed) if isinstance(n, ast.Return)]
    if isinstance(last, ast.Return) and len(returns) == 1:
        assert last.value is not None
        return InlinedCall(tuple(arguments), tuple(renamed[:-1]), last.value, own)
    counts = {len(n.value.elts) if isinstance(n.value, ast.Tuple) else 0 for n in returns}
    if len(counts) > 1:
        return None
    results = [fresh("result") for _ in range(max([1, *counts]))]
    returned = fresh("returned")
    names_of = [ast.Name(name, ast.Load()) for name in results]
    result = ast.Tuple([*names_of], ast.Load()) if counts and 0 not in counts else names_of[0]
    once = ast.While(ast.Constant(True), _leaving(renamed, results, returned), [])
    begin = ast.Assign([ast.Name(returned, ast.Store())], ast.Constant(False))
    return InlinedCall(tuple(arguments), (begin, once), result, own | {*results, returned})


def returns_value(function: ast.FunctionDef) -> bool:
    """Whether a function may return anything but None."""
    return any(n.value is not None for n in _all_nodes(function.body) if isinstance(n, ast.Return))


def with_value(function: ast.FunctionDef) -> ast.FunctionDef:
    """A function that is called for what it does, with a number as the result that nothing uses."""
    changed = copy.deepcopy(function)
    for node in _all_nodes(changed.body):
        if isinstance(node, ast.Return):
            node.value = ast.Constant(0)
    changed.body.append(ast.Return(ast.Constant(0)))
    return changed


def stored_parameters(function: ast.FunctionDef) -> Iterator[int]:
    """The positions of parameters to whose elements a function stores."""
    places = {each.arg: k for k, each in enumerate([*function.args.posonlyargs, *function.args.args])}
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            base: ast.expr = node
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name) and base.id in places:
                yield places[base.id]


def _bound_arguments(function: ast.FunctionDef, call: ast.Call) -> list[tuple[str, ast.expr]] | None:
    given = function.args
    if given.vararg or given.kwarg or function.decorator_list:
        return None
    unnamed = [each.arg for each in given.posonlyargs]
    in_order = [*unnamed, *(each.arg for each in given.args)]
    names = [*in_order, *(each.arg for each in given.kwonlyargs)]
    values: dict[str, ast.expr] = dict(
        zip(in_order[len(in_order) - len(given.defaults) :], given.defaults, strict=True)
    )
    own = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    values |= {each.arg: value for each, value in own if value is not None}
    constant = all(isinstance(value, ast.Constant) for value in values.values())
    if not constant or len(call.args) > len(in_order):
        return None
    keywords = {k.arg: k.value for k in call.keywords if k.arg in names and k.arg not in unnamed}
    if len(keywords) != len(call.keywords) or not keywords.keys().isdisjoint(in_order[: len(call.args)]):
        return None
    found = {**values, **dict(zip(in_order, call.args, strict=False)), **keywords}
    return [(name, found[name]) for name in names] if all(name in found for name in names) else None


def _all_nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    return (node for statement in body for node in ast.walk(statement))


def _is_foreign(node: ast.AST) -> bool:
    scopes = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.Global | ast.Nonlocal
    return isinstance(node, scopes | ast.Yield | ast.YieldFrom | ast.Await) or (
        isinstance(node, ast.Return) and node.value is None
    )


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether every path through statements returns a value, or raises."""
    match body[-1] if body else None:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=one, orelse=other):
            return _ends(one) and _ends(other)
    return False


def _leaving(body: Sequence[ast.stmt], result: Sequence[str], returned: str) -> list[ast.stmt]:
    """The statements with each `return` as an assignment that leaves all loops."""
    found: list[ast.stmt] = []
    for statement in body:
        match statement:
            case ast.Return(value=ast.expr() as value):
                names: list[ast.expr] = [ast.Name(name, ast.Store()) for name in result]
                several = isinstance(value, ast.Tuple)
                found.append(ast.Assign([ast.Tuple(names, ast.Store()) if several else names[0]], value))
                found.append(ast.Assign([ast.Name(returned, ast.Store())], ast.Constant(True)))
                found.append(ast.Break())
            case ast.If(test=test, body=one, orelse=other):
                found.append(ast.If(test, _leaving(one, result, returned), _leaving(other, result, returned)))
            case ast.For() | ast.While() if any(isinstance(n, ast.Return) for n in ast.walk(statement)):
                statement.body = _leaving(statement.body, result, returned)
                statement.orelse = _leaving(statement.orelse, result, returned)
                found.append(statement)
                found.append(ast.If(ast.Name(returned, ast.Load()), [ast.Break()], []))
            case _:
                found.append(statement)
    return found


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        new = self._names.get(node.id)
        if new is None:
            return node
        if isinstance(new, ast.Name):
            return ast.copy_location(ast.Name(new.id, node.ctx), node)
        return copy.deepcopy(new)
