"""What a loop's body uses of the module around: functions of the file, and values under names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.names import bindings_of
from dlbc.analysis.uses import bound_names, every_node, free_names
from dlbc.native.facts import literal_of


def function_of(context: AnalysisContext, name: str) -> ast.FunctionDef | None:
    """The function of the file that a name always means."""
    found = context.module.functions.get(name, ())
    if len(found) != 1 or name not in context.module.constant or name in context.names.temporaries:
        return None
    function = found[0]
    if not isinstance(function, ast.FunctionDef) or any(
        bindings_of(free, context.loop, context.module)[1] is not None for free in free_names(function)
    ):
        return None  # a name of the module that means something else where the loop stands
    return function


def read_by_functions(context: AnalysisContext) -> Iterator[str]:
    """Variables of the module that functions of the file read which the body calls."""
    waiting = _called(context.loop.node)
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        function = None if name in seen else function_of(context, name)
        seen.add(name)
        if function is None:
            continue
        waiting |= _called(function)
        for free in free_names(function):
            module = context.module
            known = free in module.functions or module.imported_name(free) or _literal_of(context, free)
            if free not in module.declared and not known and _is_there(context, free):
                yield free


def number_of(context: AnalysisContext, name: str) -> ast.expr | None:
    """The literal number to which a name of the module is bound once and for all."""
    value = _bound_once(context, name)
    return value if value is not None and isinstance(literal_of(value), int | float) else None


def tuple_of(context: AnalysisContext, name: str) -> ast.Tuple | None:
    """The tuple, of nothing that can change, to which a name of the module is bound once and for all."""
    value = _bound_once(context, name)
    fixed = isinstance(value, ast.Tuple) and not any(isinstance(n, ast.List) for n in ast.walk(value))
    return value if isinstance(value, ast.Tuple) and fixed else None


def _literal_of(context: AnalysisContext, name: str) -> ast.expr | None:
    return number_of(context, name) or tuple_of(context, name)


def _bound_once(context: AnalysisContext, name: str) -> ast.expr | None:
    """The expression to which a name of the module is bound once and for all."""
    if bindings_of(name, context.loop, context.module)[1] is not None:
        return None
    nodes = context.module.bound.get(name, ())
    if len(nodes) != 1 or name in context.module.declared or name in context.names.temporaries:
        return None
    module = context.loop.path[0]
    for statement in module.body if isinstance(module, ast.Module) else ():
        match statement:
            case ast.Assign(targets=[ast.Name() as target], value=value) if target is nodes[0]:
                return value
    return None


def _is_there(context: AnalysisContext, name: str) -> bool:
    """Whether a variable of the module has been bound by the time of the loop, whatever has happened."""
    nodes = context.module.bound.get(name, ())
    module = context.loop.path[0]
    inside = any(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in context.loop.path)
    deleted = any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del) for n in nodes)
    bound = (
        statement
        for statement in (module.body if isinstance(module, ast.Module) else ())
        if isinstance(statement, ast.Assign) and (inside or statement.lineno < context.loop.node.lineno)
    )
    return not deleted and any(name in bound_names([statement]) for statement in bound)


def _called(node: ast.AST) -> set[str]:
    calls = (n.func for n in every_node(node) if isinstance(n, ast.Call))
    return {function.id for function in calls if isinstance(function, ast.Name)}
