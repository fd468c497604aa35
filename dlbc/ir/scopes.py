"""What binds a name where a loop stands: Python's scope rules, from the loop outwards."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import ModuleNames
from dlbc.ir.uses import bound_names, cached_on_node, own_nodes, parameters_of

__all__ = ["BUILTINS", "Functions", "bindings_of", "is_known", "names_around", "stays"]

Functions = ast.FunctionDef | ast.AsyncFunctionDef
BUILTINS = frozenset(n for n in dir(builtins) if not n.startswith("__")) | {"__import__", "__build_class__"}


def _scopes(loop: AnnotatedLoop) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (s for s in reversed(loop.path) if isinstance(s, Functions))


def bindings_of(
    name: str, loop: AnnotatedLoop, module: ModuleNames
) -> tuple[Sequence[ast.AST], ast.AST | None]:
    """What binds ``name`` as the loop sees it, and the function it is local to (None: the module)."""
    for scope in _scopes(loop):
        nodes: list[ast.AST] = [p for p in parameters_of(scope) if p.arg == name]
        if name in cached_on_node(scope, "_dlbc_globals", _globals):
            break
        nodes += _bound_in(scope).get(name, [])
        if nodes:
            return nodes, scope
    return module.bound.get(name, []), None


def _globals(scope: ast.AST) -> Iterator[str]:
    for node in own_nodes(scope.body):  # type: ignore[attr-defined]
        if isinstance(node, ast.Global):
            yield from node.names


def _bound_in(scope: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, list[ast.AST]]:
    (found,) = cached_on_node(scope, "_dlbc_bound", lambda s: iter([bound_names(s.body)]))
    return found  # type: ignore[return-value]


def stays(name: str, loop: AnnotatedLoop, module: ModuleNames) -> bool:
    """Whether the name is a global one of the emitted program that nothing rebinds, or a builtin."""
    nodes, scope = bindings_of(name, loop, module)
    if scope is not None:
        return False
    return name in module.constant if nodes else name in BUILTINS


def is_known(name: str, loop: AnnotatedLoop, module: ModuleNames) -> bool:
    """Whether anything that can be seen may bind the name; a star import may bind any."""
    dunder = name.startswith("__") and name.endswith("__")
    starred = "*" in module.bound or dunder or name in BUILTINS or name in module.declared
    return starred or bool(bindings_of(name, loop, module)[0])


def names_around(loop: AnnotatedLoop, module: ModuleNames) -> frozenset[str]:
    """The names that the loop can read from around it, builtins apart."""
    found = {name for scope in _scopes(loop) for name in _bound_in(scope)}
    found |= {p.arg for scope in _scopes(loop) for p in parameters_of(scope)}
    return frozenset(found | module.bound.keys())
