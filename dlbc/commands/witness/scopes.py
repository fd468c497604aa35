"""The variables by which iterations may pass on values, and the accesses that contribute to a reduction.

The variables are those that the body of an annotated loop binds in its own scope, and those that a function
rebinds by `global` or `nonlocal`. Python's rules: a name belongs to the innermost function that binds it;
class bodies are invisible from functions inside; a comprehension's targets are its own.

Contributions do not conflict among themselves. Their forms are those that the compiler accepts
(`dlbc.analysis.contributions`), in the body itself: what a called function updates is not combined in
iteration order, so it is an access like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from dlbrt.records import dataclass

from dlbc.analysis.contributions.selections import selection_of
from dlbc.analysis.contributions.updates import update_of
from dlbc.ir.region import ModuleNames

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OWN = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)


@dataclass(eq=False)
class VariableScope:
    """One scope; ``number`` is unique in the file, 0 for the module."""

    node: ast.AST
    parent: VariableScope | None
    number: int
    bound: set[str] = field(default_factory=set)
    module: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    carried: set[str] = field(default_factory=set)

    @property
    def is_function(self) -> bool:
        """Whether the scope has a frame of its own for each call."""
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef)


class VariableScopes:
    """All scopes of a module; ``carried`` of each has the variables to be watched."""

    def __init__(self, tree: ast.Module, loops: Iterator[ast.For]) -> None:
        self.of: dict[ast.AST, VariableScope] = {}
        self._enter(tree, None)
        scope_of = {node: scope for scope in self.of.values() for node in _direct(scope.node)}
        for scope in self.of.values():
            for name in (scope.module | scope.outer) & scope.bound:
                self.owner(scope, name).carried.add(name)
        for loop in loops:
            for name in {name for stmt in loop.body for name in bound_names(stmt)}:
                self.owner(scope_of[loop], name).carried.add(name)

    def owner(self, scope: VariableScope, name: str) -> VariableScope:
        """The scope that ``name`` belongs to where ``scope`` mentions it."""
        here: VariableScope | None = scope
        while here is not None and here.parent is not None:
            if name in here.module:
                break
            seen = here is scope or not isinstance(here.node, ast.ClassDef)
            if seen and name in here.bound and name not in here.outer:
                return here
            here = here.parent
        return next(iter(self.of.values()))

    def _enter(self, node: ast.AST, parent: VariableScope | None) -> None:
        scope = self.of[node] = VariableScope(node, parent, len(self.of))
        if isinstance(node, _FUNCTIONS):
            arguments = node.args
            scope.bound |= {a.arg for a in ast.walk(arguments) if isinstance(a, ast.arg)}
        if isinstance(node, _COMPREHENSIONS):
            for generator in node.generators:
                scope.bound |= _targets(generator.target)
        for child in _direct(node):
            scope.bound |= _bound_by(child)
            if isinstance(child, ast.Global):
                scope.module |= set(child.names)
            elif isinstance(child, ast.Nonlocal):
                scope.outer |= set(child.names)
            if isinstance(child, _OWN):
                self._enter(child, scope)
                if isinstance(child, _COMPREHENSIONS):
                    scope.bound |= _walrus(child)


def _direct(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below ``node`` in its own scope, in order; inner scopes are yielded, not entered."""
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        child = waiting.pop(0)
        yield child
        if not isinstance(child, _OWN):
            waiting[:0] = ast.iter_child_nodes(child)


def bound_names(statement: ast.stmt) -> set[str]:
    """The names that a statement binds in its scope."""
    names = _bound_by(statement)
    for node in _direct(statement) if not isinstance(statement, _OWN) else ():
        names |= _bound_by(node)
        if isinstance(node, _COMPREHENSIONS):
            names |= _walrus(node)
    return names


def _bound_by(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Import() | ast.ImportFrom():
            return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}
        case ast.MatchMapping(rest=str(name)):
            return {name}
    return set()


def _targets(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _walrus(node: ast.AST) -> set[str]:
    return {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}


def contributions(statement: ast.stmt, module_names: ModuleNames) -> dict[ast.AST, str]:
    """The nodes by which a statement reads and stores the target of its contribution, with their kind."""
    update, prefix = update_of(statement, module_names), ""
    if update is None:
        update, prefix = selection_of(statement, module_names), "select "
    if update is None:
        return {}
    kind = prefix + update.family
    if not update.element:
        return dict.fromkeys(update.holders, kind)
    return {node: kind for node in ast.walk(statement) if _holder(node) in update.holders}


def _holder(node: ast.AST) -> ast.AST | None:
    """The container of an accessed element: `hist` of `hist[k]` and of `hist.get(k, 0)`."""
    match node:
        case ast.Subscript(value=held) | ast.Call(func=ast.Attribute(value=held)):
            return held
    return None
