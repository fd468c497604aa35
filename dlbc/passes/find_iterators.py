"""Find the names and attributes that hold what reading changes: iterators, and defaultdicts.

A name counts where it is bound, an attribute by its name alone. An iterator that comes as an argument, or out
of a container, cannot be seen here: the run time looks at what it sends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.region import FunctionNode, ModuleNames
from dlbc.ir.uses import every_node, own_nodes, unparsed
from dlbc.library.table import lookup

__all__ = ["find_iterators"]


Places = frozenset[ast.AST | str]


def find_iterators(tree: ast.Module, module_names: ModuleNames) -> tuple[Places, Places]:
    """Where a name is bound to an iterator, with the attributes that hold one; the same for defaultdicts."""
    pairs = [pair for node in every_node(tree) for pair in _bindings(node)]
    return (
        frozenset(_place(target) for target, value in pairs if _makes_iterator(value, module_names)),
        frozenset(_place(target) for target, value in pairs if _grows(value, module_names)),
    )


def _place(target: ast.expr) -> ast.AST | str:
    return target.attr if isinstance(target, ast.Attribute) else target


def _grows(node: ast.expr, module_names: ModuleNames) -> bool:
    return isinstance(node, ast.Call) and _full_name(node.func, module_names) == "collections.defaultdict"


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets that a statement or expression binds, each with its value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield target, value
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    yield from zip(target.elts, value.elts, strict=False)
        case ast.AnnAssign(target=bound, value=ast.expr() as value):
            yield bound, value
        case ast.NamedExpr(target=name, value=value):
            yield name, value
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as entered):
            yield entered, value


def _makes_iterator(node: ast.expr, module_names: ModuleNames) -> bool:
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call):
        return False
    full = _full_name(node.func, module_names)
    if full.startswith("itertools.") or lookup(full).iterator:
        return True
    if not full and isinstance(node.func, ast.Attribute) and lookup(f".{node.func.attr}").iterator:
        return True
    name = unparsed(node.func)
    reached = module_names.functions.get(name, ()) or module_names.methods.get(name.rpartition(".")[2], ())
    return any(map(_yields, reached))


def _yields(function: FunctionNode) -> bool:
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(body))


def _full_name(node: ast.expr, module_names: ModuleNames) -> str:
    """The dotted name of something imported or builtin, else empty."""
    root, _, rest = unparsed(node).partition(".")
    if root in module_names.imports:
        return module_names.imports[root] + ("." + rest if rest else "")
    return f"builtins.{root}" if module_names.builtin(root) and not rest else ""
