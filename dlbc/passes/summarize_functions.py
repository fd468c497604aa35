"""Summarise every function of the module: which parameters and globals it may change, what it does outside.

Theory: a fixpoint over the call graph. Functions are found by name, methods by their name alone (any class
of the module may be meant), so the graph holds every call that can happen within the module. Functions of
other packages change nothing but what the tables say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from dlbc.ir.access import Facts, OriginKind, Origins
from dlbc.ir.callees import mentioned, mutated_arguments
from dlbc.ir.effects import Summaries, Summary, direct_deeds
from dlbc.ir.region import Callable, ModuleNames, Region
from dlbc.ir.uses import bound_names, free_names, own_nodes, parameters_of
from dlbc.ir.walk_code import walk_code

__all__ = ["summarize_functions"]


def summarize_functions(world: ModuleNames) -> Summaries:
    """Summaries of all functions, methods and named lambdas."""
    nodes = [(n, f) for table in (world.functions, world.methods) for n, fs in table.items() for f in fs]
    fresh: frozenset[str] = frozenset()
    while True:
        facts = {f: walk_code(_region(f, world, fresh)) for _, f in nodes}
        new = _fresh_names(world, facts)
        if new == fresh:
            break
        fresh = new
    summaries: dict[ast.AST, Summary] = {f: _direct(name, f, facts[f], world) for name, f in nodes}
    changed = True
    while changed:
        changed = False
        for _, function in nodes:
            grown = _grown(summaries[function], facts[function], world, summaries)
            changed = changed or grown != summaries[function]
            summaries[function] = grown
    return Summaries(summaries, fresh)


def _body(function: Callable) -> list[ast.stmt]:
    if isinstance(function, ast.Lambda):
        value = ast.Return(function.body)
        return [ast.copy_location(value, function.body)]
    return function.body


def _region(function: Callable, world: ModuleNames, fresh: frozenset[str]) -> Region:
    body = _body(function)
    declared = {
        n for node in own_nodes(body) if isinstance(node, ast.Global | ast.Nonlocal) for n in node.names
    }
    parameters = frozenset(p.arg for p in parameters_of(function))
    own = (frozenset(bound_names(body)) | parameters) - declared
    return Region(tuple(body), own, world, fresh=fresh, parameters=parameters)


def _fresh_names(world: ModuleNames, facts: Mapping[Callable, Facts]) -> frozenset[str]:
    names = {n for n, fs in world.functions.items() if all(_gives_new(f, facts[f]) for f in fs)}
    methods = {f".{n}" for n, fs in world.methods.items() if all(_gives_new(f, facts[f]) for f in fs)}
    return frozenset(names | methods)


def _gives_new(function: Callable, facts: Facts) -> bool:
    if isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(_body(function))
    ):
        return False
    return not any(r.outer or r.inner for r in facts.results)


def _direct(name: str, function: Callable, facts: Facts, world: ModuleNames) -> Summary:
    body = _body(function)
    declared = {
        n: node for node in own_nodes(body) if isinstance(node, ast.Global | ast.Nonlocal) for n in node.names
    }
    bound = bound_names(body)
    attributes = {n.attr for s in body for n in ast.walk(s) if isinstance(n, ast.Attribute)}
    return Summary(
        node=function,
        name=name,
        rebinds={n: bound[n][0] for n in declared if n in bound},
        reads=free_names(function),
        attributes=frozenset(attributes),
        mentions=mentioned(body, frozenset(), world),
        deeds=tuple(d for call in facts.calls for d in direct_deeds(call)),
        touches={},
    )


def _grown(
    summary: Summary, facts: Facts, world: ModuleNames, summaries: Mapping[ast.AST, Summary]
) -> Summary:
    function = summary.node
    parameters = frozenset(p.arg for p in parameters_of(function))  # type: ignore[arg-type]
    mutates, touches = set(summary.mutates), dict(summary.touches)
    for origins, node in _all_changes(facts, world, summaries):
        for origin in origins:
            root = origin.name.partition(".")[0]
            if origin.kind is OriginKind.SHARED and root in parameters:
                mutates.add(root)
            elif origin.kind is OriginKind.SHARED:
                touches.setdefault(root, node)
    return replace(summary, mutates=frozenset(mutates), touches=touches)


def _all_changes(
    facts: Facts, world: ModuleNames, summaries: Mapping[ast.AST, Summary]
) -> Iterator[tuple[Origins, ast.expr | ast.stmt]]:
    for change in facts.changes:
        yield change.origins, change.node
    for access in facts.accesses:
        if access.writes:
            yield access.as_origins(), access.node
    for call in facts.calls:
        for deed in direct_deeds(call):
            yield deed.origins, call.node
        for _, value, node in mutated_arguments(call, world, summaries):
            yield value.outer | value.inner, node
