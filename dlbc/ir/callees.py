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
from dlbc.ir.uses import parameters_of

__all__ = ["callees", "mentioned", "mutated_arguments"]


def mentioned(body: list[ast.stmt], hidden: frozenset[str], world: ModuleNames) -> frozenset[ast.AST]:
    """Every function of the module whose name, or method whose name as an attribute, stands in the body."""
    found: set[ast.AST] = set()
    for node in (n for s in body for n in ast.walk(s)):
        if isinstance(node, ast.Name) and node.id not in hidden:
            found.update(world.functions.get(node.id, ()))
            if node.id in world.classes:
                found.update(_constructors(world.classes[node.id], world))
        elif isinstance(node, ast.Attribute):
            found.update(world.methods.get(node.attr, ()))
    return frozenset(found)


def _constructors(owner: ast.ClassDef, world: ModuleNames) -> Iterator[Callable]:
    """What making an object runs; with base classes, the constructors of any class of the module."""
    for name in ("__init__", "__new__", "__post_init__"):
        own = [f for f in world.methods.get(name, ()) if f in owner.body]
        yield from own or (world.methods.get(name, ()) if owner.bases else ())


def callees(call: Call, world: ModuleNames) -> tuple[tuple[Callable, bool], ...]:
    """The functions of the module that a call may reach, and whether the receiver is their first argument."""
    name = call.function
    if name.startswith("."):
        return tuple((f, not _static(f)) for f in world.methods.get(name[1:], ()))
    found: list[tuple[Callable, bool]] = [(f, False) for f in world.functions.get(name, ())]
    if name in world.classes:
        found += [(f, True) for f in _constructors(world.classes[name], world)]
    if not found and call.receiver is not None:  # an object that is called
        found = [(f, True) for f in world.methods.get("__call__", ())]
    return tuple(found)


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
