"""Instruments an annotated program for recording: marks iterations, names, attributes and new containers.

The first `for` below a `# dlb: parallel` comment is the loop. Its iterable and the begin of its body report
to the recorder; so do loads and stores of the names that the body binds or that a `global` statement names,
and of attributes. Expressions that make lists, dictionaries and arrays hand them to the recorder, which gives
their recording forms.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["RECORDER", "instrumented"]

#: The name under which the instrumented program sees the recorder.
RECORDER = "__recorder__"

_ANNOTATION = re.compile(r"# dlb: parallel")
_MAKERS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Call)


def instrumented(text: str) -> ast.Module:
    """The program's tree, ready to compile; `RECORDER` must be bound where it runs."""
    tree = ast.parse(text)
    loops = list(_annotated(tree, text))
    outer = frozenset(n for g in ast.walk(tree) if isinstance(g, ast.Global | ast.Nonlocal) for n in g.names)
    for loop in loops:
        names = outer | frozenset(_bound(loop))
        loop.body = [s for statement in loop.body for s in _as_list(_Names(names).visit(statement))]
    inside = {id(loop) for loop in loops}
    for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
        if outer and not any(id(n) in inside for n in ast.walk(function)):
            function.body = [s for part in function.body for s in _as_list(_Names(outer).visit(part))]
    tree = _Objects({id(loop) for loop in loops}).visit(tree)
    return ast.fix_missing_locations(tree)


def _annotated(tree: ast.Module, text: str) -> Iterator[ast.For]:
    loops = sorted((n for n in ast.walk(tree) if isinstance(n, ast.For)), key=lambda n: n.lineno)
    for number, line in enumerate(text.splitlines(), 1):
        if _ANNOTATION.search(line):
            trailing = not line.lstrip().startswith("#")
            yield next(n for n in loops if n.lineno > number or (trailing and n.lineno == number))


def _bound(loop: ast.For) -> Iterator[str]:
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _as_list(found: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    return found if isinstance(found, list) else [found]  # type: ignore[list-item]


def _call(method: str, *arguments: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(RECORDER, ast.Load()), method, ast.Load())
    return ast.Call(function, list(arguments), [])


def _report(method: str, *arguments: ast.expr) -> ast.stmt:
    return ast.Expr(_call(method, *arguments))


def _stored(node: ast.stmt) -> list[str]:
    """Names that a simple statement stores, or a loop's target."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        targets = [node.target]
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and _is_store(n)]


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


class _Names(ast.NodeTransformer):
    """Reports loads and stores of the given names."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._names and isinstance(node.ctx, ast.Load):
            return _call("load", ast.Constant(node.id), node)
        return node

    def _binding(self, node: ast.stmt) -> list[ast.stmt]:
        binds = [_report("bind", ast.Constant(n)) for n in _stored(node) if n in self._names]
        loads: list[ast.stmt] = []
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            loads = [_report("load", ast.Constant(name), ast.Constant(None))] if name in self._names else []
        self.generic_visit(node)
        return [*loads, node, *binds]

    visit_Assign = visit_AugAssign = visit_AnnAssign = _binding

    def visit_For(self, node: ast.For) -> ast.AST:
        binds = [_report("bind", ast.Constant(n)) for n in _stored(node) if n in self._names]
        self.generic_visit(node)
        node.body = [*binds, *node.body]
        return node

    def _comprehension(self, node: ast.AST) -> ast.AST:
        own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _is_store(n)}
        return _Names(self._names - own).generic_visit(node)

    visit_ListComp = visit_DictComp = visit_SetComp = visit_GeneratorExp = _comprehension


class _Objects(ast.NodeTransformer):
    """Reports the loops' iterations and attributes; wraps what makes containers."""

    def __init__(self, loops: set[int]) -> None:
        self._loops = loops

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Call) and _is_recorder(node):
            node.args = [self.visit(a) for a in node.args]  # type: ignore[misc]
            return node
        if isinstance(node, ast.ClassDef):
            node.body = [self.visit(s) for s in node.body]  # type: ignore[misc]
            return node
        found = super().visit(node)
        makes = isinstance(node, _MAKERS) and not isinstance(getattr(node, "ctx", None), ast.Store)
        return _call("wrap", found) if makes else found  # type: ignore[arg-type]

    def visit_For(self, node: ast.For) -> ast.AST:
        annotated = id(node) in self._loops
        targets = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        self.generic_visit(node)
        if annotated:
            here = ast.Call(ast.Name("locals", ast.Load()), [], [])
            everywhere = ast.Call(ast.Name("globals", ast.Load()), [], [])
            scope = ast.Dict([None, None], [everywhere, here])
            node.iter = _call("loop", node.iter, ast.Constant(node.lineno), scope)
            values: list[ast.expr] = [ast.Name(n, ast.Load()) for n in targets]
            node.body.insert(0, _report("begin", ast.Dict([ast.Constant(n) for n in targets], values)))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and not (
            isinstance(node.value, ast.Name) and node.value.id == "np"
        ):
            return _call("attribute", node.value, ast.Constant(node.attr))
        return node

    def _storing(self, node: ast.Assign | ast.AugAssign) -> list[ast.stmt]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        attributes = [t for t in targets if isinstance(t, ast.Attribute)]
        loads = [
            _report("attribute", t.value, ast.Constant(t.attr))
            for t in attributes
            if isinstance(node, ast.AugAssign)
        ]
        stores = [_report("set_attribute", t.value, ast.Constant(t.attr)) for t in attributes]
        self.generic_visit(node)
        return [*loads, node, *stores]

    visit_Assign = visit_AugAssign = _storing  # type: ignore[assignment]


def _is_recorder(node: ast.Call) -> bool:
    function = node.func
    return isinstance(function, ast.Attribute) and ast.unparse(function.value) == RECORDER
