"""What names of a scope are bound to: the bindings of its statements, for telling their kinds.

Names that the module declares `global` or `nonlocal` anywhere, and parameters, may be bound to anything.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from dlbc.ir.plain import Bindings, KindInference, ValueKind, dotted_name
from dlbc.ir.region import ModuleNames
from dlbc.library.table import is_library, lookup

__all__ = ["bindings_in", "container_names", "settled"]


def bindings_in(nodes: Iterable[ast.AST], module_names: ModuleNames) -> Bindings:
    """What nodes of one scope bind, each by itself."""
    found = Bindings()
    for node in nodes:
        _bind(node, found, module_names)
    return found


def _bind(node: ast.AST, found: Bindings, module_names: ModuleNames) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                found.assign(target, value)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            found.assign(target, value)
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            result = ast.BinOp(ast.Name(name, ast.Load()), op, value)
            found.add(name, lambda values: values.kind(result))
        case ast.For(target=target, iter=iterable) | ast.AsyncFor(target=target, iter=iterable):
            found.spread(target, lambda values: values.element(iterable))
        case ast.withitem(context_expr=given, optional_vars=ast.expr() as target):
            found.spread(target, lambda values: values.kind(given))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            for alias in names:
                name = (alias.asname or alias.name).split(".")[0]
                known = name in module_names.imports and is_library(module_names.imports[name])
                found.add(name, lambda _, known=known: ValueKind.SCALAR if known else ValueKind.OTHER)  # type: ignore[misc]
        case ast.Delete() | ast.Global() | ast.Nonlocal():
            pass
        case _:
            for name in _named_by(node):
                found.add(name, lambda _: ValueKind.OTHER)


def _named_by(node: ast.AST) -> Iterable[str]:
    """Names that a node binds to what is not looked into: functions, classes, exceptions, patterns."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def settled(
    bindings: Bindings,
    names: Iterable[str],
    start: Mapping[str, ValueKind],
    values: Callable[[dict[str, ValueKind]], KindInference],
) -> dict[str, ValueKind]:
    """The kinds of names: the least that agree with what they are bound to, at least those at ``start``.

    ``values`` makes the rules that use a table of kinds. Kinds only grow, so this ends.
    """
    table = {name: start.get(name, ValueKind.SCALAR) for name in names}
    rules = values(table)
    changed = True
    while changed:
        changed = False
        for name, kind in table.items():
            grown = max(kind, bindings.kind(name, rules))
            if grown is not kind:
                table[name], changed = grown, True
    return table


def container_names(
    nodes: Iterable[ast.AST], module_names: ModuleNames
) -> tuple[frozenset[str], frozenset[str]]:
    """Names, and attributes, that are bound to new lists, dictionaries, sets and deques alone."""
    stored: list[ast.Name | ast.Attribute] = []
    filled: set[ast.AST] = set()
    others: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value) if _is_container(value, module_names):
                filled |= set(targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_container(
                value, module_names
            ):
                filled.add(target)
            case ast.Name(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                stored.append(node)
            case ast.arg(arg=name):
                others.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                others |= set(names)
        others |= set(_named_by(node))
    others |= {n.id for n in stored if isinstance(n, ast.Name) and n not in filled}
    attributes = {n.attr for n in stored if isinstance(n, ast.Attribute) and n not in filled}
    return (
        frozenset(n.id for n in stored if isinstance(n, ast.Name)) - others,
        frozenset(n.attr for n in stored if isinstance(n, ast.Attribute)) - attributes,
    )


def _is_container(node: ast.expr, module_names: ModuleNames) -> bool:
    match node:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=func):
            return lookup(dotted_name(func, module_names)).container
    return False
