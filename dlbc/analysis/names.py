"""Names: what binds them where a loop stands, what they are in full, their order in the text, private names.

Bindings follow Python's scope rules, from the loop outwards.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbc.analysis import uses
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import ArrayPlan, Reduction
from dlbc.ir.region import ModuleNames

Functions = ast.FunctionDef | ast.AsyncFunctionDef
#: A name or lambda, by whose number in the order of the text any tree of the same code finds it.
Anchor = ast.Name | ast.Lambda
BUILTINS = frozenset(n for n in dir(builtins) if not n.startswith("__")) | {"__import__", "__build_class__"}


def full_name(node: ast.expr, module: ModuleNames) -> str:
    """The full name of a builtin or imported function (``numpy.add.at``); empty for anything else."""
    root = uses.root_name(node)
    if root is None:
        return ""
    if root in module.imports:
        return module.imports[root] + uses.unparsed(node).removeprefix(root)
    builtin = isinstance(node, ast.Name) and root in BUILTINS and module.builtin(root)
    return f"builtins.{root}" if builtin else ""


def imported_by(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import binds, each with the full name of what it means."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{'~' * node.level}{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            yield alias.name.split(".")[0], alias.name.split(".")[0]


def _scopes(loop: AnnotatedLoop) -> Iterator[Functions]:
    return (s for s in reversed(loop.path) if isinstance(s, Functions))


def bindings_of(
    name: str, loop: AnnotatedLoop, module: ModuleNames
) -> tuple[Sequence[ast.AST], ast.AST | None]:
    """The nodes that bind ``name`` as the loop sees it, and the function they are local to, if any."""
    return bindings_within(name, loop.path, module)


def bindings_within(
    name: str, path: Sequence[ast.AST], module: ModuleNames
) -> tuple[Sequence[ast.AST], ast.AST | None]:
    """The same for code inside the nodes of ``path``, the outermost first."""
    for scope in (s for s in reversed(path) if isinstance(s, Functions)):
        nodes: list[ast.AST] = [p for p in uses.parameters_of(scope) if p.arg == name]
        if name in uses.cached_on_node(scope, "_dlbc_globals", _globals):
            break
        nodes += uses.bound_in(scope).get(name, [])
        if nodes:
            return nodes, scope
    return module.bound.get(name, []), None


def _globals(scope: ast.AST) -> Iterator[str]:
    for node in uses.own_nodes(scope.body):  # type: ignore[attr-defined]
        if isinstance(node, ast.Global):
            yield from node.names


def stays(name: str, loop: AnnotatedLoop, module: ModuleNames) -> bool:
    """Whether the name is a builtin, or a global of the emitted program that nothing rebinds."""
    nodes, scope = bindings_of(name, loop, module)
    if scope is not None:
        return False
    return name in module.constant if nodes else name in BUILTINS


def is_known(name: str, loop: AnnotatedLoop, module: ModuleNames) -> bool:
    """Whether some visible binding may bind the name; a star import may bind any name."""
    dunder = name.startswith("__") and name.endswith("__")
    starred = "*" in module.bound or dunder or name in BUILTINS or name in module.declared
    return starred or bool(bindings_of(name, loop, module)[0])


def without_hidden(module: ModuleNames, loop: AnnotatedLoop) -> ModuleNames:
    """The module as the loop sees it: a function around it may bind a name of a function or import anew."""
    local = {name for scope in _scopes(loop) for name in uses.bound_in(scope)}
    local |= {p.arg for scope in _scopes(loop) for p in uses.parameters_of(scope)}
    names = [name for name in local if name in module.constant or name in module.imports]
    hidden = {name for name in names if bindings_of(name, loop, module)[1] is not None}
    if not hidden:
        return module
    imports = {name: full for name, full in module.imports.items() if name not in hidden}
    functions = dict(module.functions)
    for name in hidden & functions.keys():
        if _holds_data(name, loop, module):
            functions[name] = tuple(f for f in functions[name] if f not in module.bound.get(name, ()))
    return replace(module, constant=module.constant - hidden, imports=imports, functions=functions)


def _holds_data(name: str, loop: AnnotatedLoop, module: ModuleNames) -> bool:
    """Whether only parameters and assignments bind the name of a function around the loop.

    A call of such a name is one of a value, which may reach every function that escapes.
    """
    nodes, _ = bindings_of(name, loop, module)
    anew = (n.names for n in uses.every_node(loop.node) if isinstance(n, ast.Global))
    return all(isinstance(n, ast.Name | ast.arg) for n in nodes) and not any(name in names for names in anew)


def names_around(loop: AnnotatedLoop, module: ModuleNames) -> frozenset[str]:
    """The names around the loop that it can read, without builtins."""
    local = {name for scope in _scopes(loop) for name in uses.bound_in(scope)}
    local |= {p.arg for scope in _scopes(loop) for p in uses.parameters_of(scope)}
    return frozenset(local | module.bound.keys())


def anchors_of(root: ast.AST) -> tuple[Anchor, ...]:
    """All names and lambdas below ``root``, in the order of the text; a lambda precedes its contents.

    Anchors replace positions: within f-strings CPython's positions are not exact before 3.12, and the
    lossless tree has none without another pass.
    """
    anchors: list[Anchor] = []
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Anchor):
            anchors.append(node)
        waiting.extend(reversed(_children_in_order(node)))
    return tuple(anchors)


def _children_in_order(node: ast.AST) -> list[ast.AST]:
    """The parts of a node, in the order of the text."""
    if isinstance(node, ast.JoinedStr):
        return list(node.values)
    if isinstance(node, ast.FormattedValue):
        return [node.value] if node.format_spec is None else [node.value, node.format_spec]
    return sorted(_placed(node), key=lambda n: (n.lineno, n.col_offset))  # type: ignore[attr-defined]


def _placed(node: ast.AST) -> Iterator[ast.AST]:
    """The nearest nodes below that have a place: comprehensions, argument lists and the like have none."""
    for child in uses.children_of(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed(child)


def mangled_names(loop: AnnotatedLoop) -> Iterator[tuple[str, str]]:
    """The private names of a class that the loop uses (``__x``), in alphabetical order.

    Each comes with its mangled form (``_Owner__x``), which code outside the class has to write.
    """
    owner = next((n for n in reversed(loop.path) if isinstance(n, ast.ClassDef)), None)
    if owner is None or not owner.name.strip("_"):
        return
    names = {getattr(node, key, None) for node in uses.every_node(loop.node) for key in ("id", "attr", "arg")}
    for name in sorted(n for n in names if n and n.startswith("__") and not n.endswith("__")):
        yield name, f"_{owner.name.lstrip('_')}{name}"


def rename(name: str | None, mangled: dict[str, str]) -> str | None:
    """A name, if there is one, as the kernel writes it."""
    return None if name is None else mangled.get(name, name)


def rename_reduction(reduction: Reduction, mangled: dict[str, str]) -> Reduction:
    """The reduction with names as the kernel writes them."""
    companions = tuple(swapped(n, mangled) for n in reduction.companions)
    return replace(reduction, name=swapped(reduction.name, mangled), companions=companions)


def rename_array(plan: ArrayPlan, mangled: dict[str, str]) -> ArrayPlan:
    """The row of the array table with names as the kernel writes them, and axes as the runtime counts."""
    name = plan.name.removesuffix("[...]")
    from_the_end = name != plan.name and plan.axis is not None
    return replace(
        plan,
        name=swapped(name, mangled),
        axis=-1 - plan.axis if from_the_end and plan.axis is not None else plan.axis,
        rows=tuple(swapped(row, mangled) for row in plan.rows),
        writes=None if plan.writes is None else tuple(swapped(row, mangled) for row in plan.writes),
    )


def swapped(text: str, mangled: dict[str, str]) -> str:
    """Source text with private names as the kernel writes them."""
    if not mangled:
        return text
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, mangled)) + r")(?!\w)")
    return pattern.sub(lambda m: mangled[m[1]], text)
