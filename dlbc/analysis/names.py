"""What binds a name where a loop stands: Python's scope rules, from the loop outwards."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbc.analysis.uses import bound_names, cached_on_node, children_of, every_node, own_nodes, parameters_of
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import ArrayPlan, Reduction
from dlbc.ir.region import ModuleNames

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


# ------------------------------------------------------------------------------
# The names of a piece of code in the order of the text: by its number a name is found in any tree of it.
#
# Positions would serve where trees are exact; within f-strings CPython's are not before 3.12, and the lossless
# tree has none without another pass. Anchors are the names that are expressions or targets, and lambdas.

Anchor = ast.Name | ast.Lambda


def anchors_of(root: ast.AST) -> tuple[Anchor, ...]:
    """All names and lambdas below ``root``, in the order of the text; a lambda before what is in it."""
    found: list[Anchor] = []
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Anchor):
            found.append(node)
        waiting.extend(reversed(children_in_order(node)))
    return tuple(found)


def children_in_order(node: ast.AST) -> list[ast.AST]:
    """What a node consists of, in the order of the text."""
    if isinstance(node, ast.JoinedStr):
        return list(node.values)
    if isinstance(node, ast.FormattedValue):
        return [node.value] if node.format_spec is None else [node.value, node.format_spec]
    return sorted(_placed(node), key=lambda n: (n.lineno, n.col_offset))  # type: ignore[attr-defined]


def _placed(node: ast.AST) -> Iterator[ast.AST]:
    """The nearest nodes below that have a place: comprehensions, argument lists and the like have none."""
    for child in children_of(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed(child)


# ------------------------------------------------------------------------------
# Private names of a class (``__x``) as a function outside it has to write them (``_Owner__x``).


def mangled_names(loop: AnnotatedLoop) -> Iterator[tuple[str, str]]:
    """The private names of the loop with their mangled forms, in order of the alphabet."""
    owner = next((n for n in reversed(loop.path) if isinstance(n, ast.ClassDef)), None)
    if owner is None or not owner.name.strip("_"):
        return
    found = {
        name
        for node in every_node(loop.node)
        for name in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "arg", None))
        if isinstance(name, str) and name.startswith("__") and not name.endswith("__")
    }
    for name in sorted(found):
        yield name, f"_{owner.name.lstrip('_')}{name}"


def rename(name: str | None, mangled: dict[str, str]) -> str | None:
    """A name, if there is one, as the kernel has it."""
    return None if name is None else mangled.get(name, name)


def rename_reduction(reduction: Reduction, mangled: dict[str, str]) -> Reduction:
    """The reduction under the names that the kernel has."""
    companions = tuple(mangled.get(n, n) for n in reduction.companions)
    return replace(reduction, name=mangled.get(reduction.name, reduction.name), companions=companions)


def rename_array(plan: ArrayPlan, mangled: dict[str, str]) -> ArrayPlan:
    """The row of the array table under the names that the kernel has."""
    return replace(
        plan,
        name=swapped(plan.name, mangled),
        rows=tuple(swapped(row, mangled) for row in plan.rows),
        writes=None if plan.writes is None else tuple(swapped(row, mangled) for row in plan.writes),
    )


def swapped(text: str, mangled: dict[str, str]) -> str:
    """Source text with private names as the kernel has them."""
    if not mangled:
        return text
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, mangled)) + r")(?!\w)")
    return pattern.sub(lambda m: mangled[m[1]], text)
