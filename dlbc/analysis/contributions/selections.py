"""Recognise selections, the statements by which iterations keep the best value so far, from their text.

A selection, ``if new < best: best, where = new, i``, must compare the value that it then takes, so that the
best of some iterations can be compared with the best of others in the same way. In ``if best is None or
new < best`` the first value is taken whatever it is. A part of the value may be compared in its place: ``if
cost < best[0]: best = cost, i``, ``if p.cost < best.cost: best = p``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from dlbc.analysis.contributions.updates import Target, Update, at_path, is_repeatable
from dlbc.analysis.uses import uses_of
from dlbc.ir.access_path import AccessPath, bracket_text, path_of
from dlbc.ir.region import ModuleNames

_COMPARISONS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

#: The operators of selections.
SELECTING = frozenset(_MIRRORED)

_Pair = tuple[Target, ast.expr]


def selection_of(node: ast.stmt, module: ModuleNames) -> Update | None:
    """The statement as a selection, or None if it is not clearly one."""
    pairs: list[_Pair] | None
    read: list[Target] = []
    same: list[_Pair] = []
    match node:
        case ast.If(test=test, body=first, orelse=[ast.If(test=compared, body=body, orelse=[])]) if [
            *map(ast.dump, first)
        ] == [*map(ast.dump, body)]:
            # if best is None: best = new, i; elif new < best[0]: the same
            pairs, same = _pairs(body), _pairs(first) or []
            compared = ast.BoolOp(ast.Or(), [test, compared])
        case ast.If(test=test, body=body, orelse=[] | [ast.Pass()]):
            is_and = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
            compared = test.values[-1] if isinstance(test, ast.BoolOp) and is_and else test
            pairs = _pairs(body)
        case ast.Assign(targets=[target], value=ast.IfExp(test=compared, body=new, orelse=kept)):
            at, unchanged = at_path(target), at_path(kept)
            if at is None or unchanged is None or at.path != unchanged.path:
                return None
            pairs, read = [(at, new)], [unchanged]
        case _:
            return None
    compared, empty = _without_none(compared)
    if pairs is None or not isinstance(compared, ast.Compare) or len(compared.ops) != 1:
        return None
    operator = _COMPARISONS.get(type(compared.ops[0]))
    if operator is None:
        return None
    for new, old, sign in (
        (compared.left, compared.comparators[0], operator),
        (compared.comparators[0], compared.left, _MIRRORED[operator]),
    ):
        for best, by in _compared(old):
            if (empty is None or empty.path == best.path) and _chosen(new, best, by, pairs, module):
                read += [best] if empty is None else [best, empty]
                made = _made_selection(node, read, sign, new, [*pairs, *same], none_first=empty is not None)
                taken = next(value for at, value in pairs if at.path == best.path)
                made_here = isinstance(taken, ast.Tuple | ast.List | ast.Dict)
                return replace(made, by=by, may_change=bool(by) and not made_here)
    return None


def _compared(node: ast.expr) -> Iterator[tuple[Target, str]]:
    """The best value that is compared, or of which a part is."""
    if (at := at_path(node)) is not None:
        yield at, ""
    match node:
        case ast.Attribute(value=whole, attr=attr) if not attr.startswith("_"):
            by = f".{attr}"
        case ast.Subscript(value=whole, slice=ast.Constant() as key) if path_of(node) is not None:
            by = bracket_text(key)
        case _:
            return
    if (at := at_path(whole)) is not None:
        yield at, by


def _part(node: ast.expr, by: str) -> ast.expr | None:
    """The expression of that part of a value."""
    if not by or by.startswith("."):
        return ast.Attribute(node, by[1:], ast.Load()) if by else node
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            place = by[1:-1]
            starred = any(isinstance(part, ast.Starred) for part in parts)
            return parts[int(place)] if place.isdigit() and int(place) < len(parts) and not starred else None
        case ast.Dict(keys=keys, values=values):
            written = [k.value for k in keys if isinstance(k, ast.Constant)]
            found = [v for k, v in zip(written, values, strict=False) if k == ast.literal_eval(by[1:-1])]
            return found[0] if len(found) == 1 and len(written) == len(keys) else None
    return ast.Subscript(node, ast.parse(by[1:-1], mode="eval").body, ast.Load())


def _without_none(test: ast.expr) -> tuple[ast.expr, Target | None]:
    """The comparison of ``best is None or new < best``, and what is None before there is a best value."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=[
            ast.Compare(left=empty, ops=[ast.Is()], comparators=[ast.Constant(value=None)]), compared
        ]):  # fmt: skip
            at = at_path(empty)
            return (compared, at) if at is not None else (test, None)
    return test, None


def resembles_selection(node: ast.stmt, path: AccessPath) -> bool:
    """Whether a condition on what is at the path decides whether it is stored to."""
    if not isinstance(node, ast.If):
        return False
    targets = [target for s in node.body if isinstance(s, ast.Assign) for target in s.targets]
    parts = [n for target in targets for n in ast.walk(target)]
    return _reads(node.test, path) and any(_is_at(n, path) for n in parts)


def _reads(node: ast.expr, path: AccessPath) -> bool:
    return any(_is_at(part, path) for part in ast.walk(node))


def _is_at(node: ast.AST, path: AccessPath) -> bool:
    return isinstance(node, ast.expr) and (found := path_of(node)) is not None and found[0] == path


def _pairs(body: list[ast.stmt]) -> list[_Pair] | None:
    """The paths that the branch stores to, each with its value; None if the branch does anything else."""
    stores: list[tuple[ast.expr, ast.expr]] = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                if len(names) != len(values) or any(isinstance(v, ast.Starred) for v in values):
                    return None
                stores += zip(names, values, strict=True)
            case ast.Assign(targets=[target], value=value):
                stores.append((target, value))
            case ast.Pass():
                pass
            case _:
                return None
    bound = [(at, value) for target, value in stores if (at := at_path(target)) is not None]
    paths = {at.path for at, _ in bound}
    apart = all(one == other or not one.overlaps(other) for one in paths for other in paths)
    return bound if len(paths) == len(stores) and apart else None


def _chosen(new: ast.expr, old: Target, by: str, pairs: list[_Pair], module: ModuleNames) -> bool:
    """Whether the branch binds ``old`` to the value compared, and no value in it depends on what it binds."""
    whole = next((value for at, value in pairs if at.path == old.path), None)
    taken = None if whole is None else _part(whole, by)
    if taken is None:
        return False
    own = {at.path.root for at, _ in pairs if not at.path.steps}
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


def _made_selection(
    node: ast.stmt, read: list[Target], operator: str, new: ast.expr, pairs: list[_Pair], *, none_first: bool
) -> Update:
    path = read[0].path
    bound = [at for at, _ in pairs if at.path == path]
    others = [at for at, _ in pairs if at.path != path]
    return Update(
        path=path,
        operator=operator,
        statement=node,
        holders=frozenset(at.holder for at in (*bound, *read)),
        mentions=frozenset(at.root for at in (*bound, *read)),
        values=(new,),
        companions=tuple(dict.fromkeys(at.path.text for at in others)),
        companion_holders=frozenset(at.holder for at in others),
        companion_mentions=frozenset(at.root for at in others),
        none_first=none_first,
    )
