"""Which functions of the module a call may reach.

Functions are found by name and methods by their name alone, whatever the receiver: more may be found than
are meant, never fewer, as far as calls go by name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from dlbc.ir.access import Call, Value
from dlbc.ir.effects import Summary
from dlbc.ir.region import Callable, ModuleNames
from dlbc.ir.uses import every_node, parameters_of
from dlbc.library.table import lookup

__all__ = [
    "CONSTRUCTORS",
    "callees",
    "functions_among",
    "functions_given",
    "is_opaque",
    "is_sure",
    "mentioned",
    "mutated_arguments",
    "taken",
]

CONSTRUCTORS = ("__init__", "__new__", "__post_init__")

#: Keywords by which functions take a function that they call.
_FUNCTION_KEYWORDS = frozenset({"key", "func", "func1d", "funclist", "function", "pyfunc"})


def mentioned(body: list[ast.stmt], hidden: frozenset[str], world: ModuleNames) -> frozenset[ast.AST]:
    """Every function of the module whose name, or method whose name as an attribute, stands in the body."""
    found: set[ast.AST] = set()
    for node in (n for s in body for n in every_node(s)):
        if isinstance(node, ast.Name) and node.id not in hidden:
            found.update(world.functions.get(node.id, ()))
            if node.id in world.classes:
                found.update(_constructors(world.classes[node.id], world))
        elif isinstance(node, ast.Attribute):
            found.update(world.methods.get(node.attr, ()))
    return frozenset(found)


def _constructors(owner: ast.ClassDef, world: ModuleNames) -> Iterator[Callable]:
    """What making an object runs; with base classes, the constructors of any class of the module."""
    for name in CONSTRUCTORS:
        own = [f for f in world.methods.get(name, ()) if f in owner.body]
        yield from own or (world.methods.get(name, ()) if owner.bases else ())


def callees(call: Call, world: ModuleNames) -> tuple[tuple[Callable, bool], ...]:
    """The functions of the module that a call may reach, and whether the receiver is their first argument."""
    name = call.function
    if name.startswith("."):
        return tuple((f, not _static(f)) for f in world.methods.get(name[1:], ()) if not _setter(f))
    found: list[tuple[Callable, bool]] = [(f, False) for f in world.functions.get(name, ())]
    if name in world.classes:
        found += [(f, True) for f in _constructors(world.classes[name], world)]
    if not found and call.receiver is not None:  # an object that is called
        found = [(f, True) for f in world.methods.get("__call__", ())]
    return tuple(found)


def is_opaque(call: Call, world: ModuleNames) -> bool:
    """Whether the call may reach functions other than by their name: it calls a value, or hands one on."""
    name, node = call.function, call.node
    if lookup(name).calls is not None:
        given = functions_given(call)
        return any(not isinstance(g, ast.Lambda | ast.Constant) and not _known(g, world) for g in given)
    if name.startswith("."):
        replaced = any(f.name in world.hidden.unsure for f in _methods(name, world))
        return replaced or name[1:] in world.hidden.values
    if name:
        return not (name in world.imports or "." in name or is_sure(name, world))
    return not (isinstance(node.func, ast.Lambda) or _known(node.func, world))


def functions_given(call: Call) -> list[ast.expr]:
    """The functions handed to a function that calls them."""
    return functions_among(call.node, call.function)


def functions_among(node: ast.Call, function: str) -> list[ast.expr]:
    """The same, of a call of a function by its full name."""
    places = lookup(function).calls or ()
    found = [node.args[place] for place in places if place < len(node.args)]
    spread = [a for a in node.args if isinstance(a, ast.Starred)] if places else []
    named = [k.value for k in node.keywords if k.arg in _FUNCTION_KEYWORDS]
    return list(dict.fromkeys([*found, *spread, *named]))


def _methods(name: str, world: ModuleNames) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (f for f in world.methods.get(name[1:], ()) if not isinstance(f, ast.Lambda))


def is_sure(name: str, world: ModuleNames) -> bool:
    """Whether the name means functions or classes of the module and nothing else."""
    return name not in world.hidden.unsure and (name in world.functions or name in world.classes)


def _known(node: ast.expr, world: ModuleNames) -> bool:
    """Whether an expression names a function, class or import of the module, or a builtin."""
    if isinstance(node, ast.Attribute):
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in world.imports
    return isinstance(node, ast.Name) and (
        is_sure(node.id, world) or node.id in world.imports or world.builtin(node.id)
    )


def taken(body: list[ast.stmt], world: ModuleNames) -> Iterator[tuple[Callable, ast.expr]]:
    """Functions that the body mentions other than to call them: what it hands them to may."""
    called = {n.func for s in body for n in every_node(s) if isinstance(n, ast.Call)}
    for node in (n for s in body for n in every_node(s)):
        if node in called or not isinstance(node, ast.Name | ast.Attribute):
            continue
        if isinstance(node, ast.Attribute) and node.attr in world.hidden.properties:
            continue
        table = world.functions if isinstance(node, ast.Name) else world.methods
        found = table.get(node.id if isinstance(node, ast.Name) else node.attr, ())
        yield from ((f, node) for f in found)


def _setter(function: Callable) -> bool:
    marks = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return any(isinstance(m, ast.Attribute) and m.attr in ("setter", "deleter") for m in marks)


def _static(function: Callable) -> bool:
    marks = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return any(isinstance(m, ast.Name) and m.id == "staticmethod" for m in marks)


def mutated_arguments(
    call: Call, world: ModuleNames, summaries: Mapping[ast.AST, Summary]
) -> Iterator[tuple[Summary, Value, ast.expr]]:
    """The arguments of a call that a function of the module may change, with the function."""
    for function, bound in callees(call, world):
        summary = summaries.get(function)
        if summary is None or not summary.mutates:
            continue
        names = [p.arg for p in parameters_of(function)]
        if bound:
            if names and names[0] in summary.mutates and call.receiver is not None and call.receiver.outer:
                yield summary, call.receiver, call.node.func
            names = names[1:]
        star = function.args.vararg is not None or function.args.kwarg is not None
        for key, value, node in call.arguments:
            loose = star or isinstance(node, ast.Starred) or key == "**"
            name = names[key] if isinstance(key, int) and key < len(names) else key
            if loose or name in summary.mutates:
                yield summary, value, node
