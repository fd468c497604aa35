"""Summarise every function of the module: which parameters and globals it may change, what it does outside.

Theory: a fixpoint over the call graph. Functions are found by name, methods by their name alone (any class
of the module may be meant), and calls of values reach every function that is handed about, so the graph holds
every call that can happen within the module. Functions of other packages change nothing but what the
tables say. Which results are new, or part of the arguments, is a greatest fixpoint: by induction over
the depth of calls a result is new if it is so wherever inner calls give new ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from dlbc.ir.access import Facts, OriginKind, Origins
from dlbc.ir.callees import callees, is_opaque, mentioned, mutated_arguments
from dlbc.ir.effects import NOT_ITS_OWN, Node, Summaries, Summary, direct_deeds, writes_output
from dlbc.ir.region import Callable, ModuleNames, Region
from dlbc.ir.unseen import unseen
from dlbc.ir.uses import bound_names, every_node, free_names, own_nodes, parameters_of
from dlbc.ir.walk_code import walk_code
from dlbc.library.row import Effect
from dlbc.library.table import methods_where

__all__ = ["summarize_functions"]

#: Methods that objects of other packages have: a class of the module does not say what they do.
_METHODS = methods_where(
    lambda row: row.effect in (None, Effect.MUTATE, Effect.ORDERED) and not row.iterator
) | frozenset(
    name for kind in (list, dict, set, str, bytes, tuple) for name in dir(kind) if not name.startswith("__")
)


def summarize_functions(world: ModuleNames) -> Summaries:
    """Summaries of all functions, methods and named lambdas."""
    nodes = [(n, f) for table in (world.functions, world.methods) for n, fs in table.items() for f in fs]
    nodes += [("<lambda>", f) for f in world.hidden.lambdas]
    fresh = passing = frozenset(_result_names(world))
    facts: dict[Callable, Facts] = {}
    lost: frozenset[str] = fresh
    while True:
        for _, f in nodes:
            if f not in facts or any(call.function in lost for call in facts[f].calls):
                facts[f] = walk_code(_region(f, world, fresh, passing))
        new = _named(world, fresh, {f for f in facts if _gives_new(f, facts[f])})
        parts = _named(world, passing, {f for f in facts if _gives_parts(f, facts[f])})
        if (new, parts) == (fresh, passing):
            break
        lost = (fresh - new) | (passing - parts)
        fresh, passing = new, parts
    within = _enclosing([f for _, f in nodes])
    summaries: dict[ast.AST, Summary] = {
        f: _direct(name, f, facts[f], world, within.get(f, ())) for name, f in nodes
    }
    changed = True
    while changed:
        changed = False
        for _, function in nodes:
            grown = _grown(summaries[function], facts[function], world, summaries)
            changed = changed or grown != summaries[function]
            summaries[function] = grown
    return Summaries(summaries, fresh, passing)


def _enclosing(functions: list[Callable]) -> dict[ast.AST, tuple[Callable, ...]]:
    """For nested functions those around them, the outermost first."""
    found: dict[ast.AST, tuple[Callable, ...]] = {}
    every = set(functions)
    for outer in sorted(every, key=lambda f: (f.lineno, f.col_offset)):
        for node in every_node(outer):
            if node is not outer and node in every:
                found[node] = (*found.get(node, ()), outer)
    return found


def _owners(within: tuple[Callable, ...]) -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for outer in within:
        names = {*bound_names(_body(outer)), *(p.arg for p in parameters_of(outer))}
        found |= dict.fromkeys(names, outer)
    return found


def _body(function: Callable) -> list[ast.stmt]:
    if isinstance(function, ast.Lambda):
        value = ast.Return(function.body)
        return [ast.copy_location(value, function.body)]
    return function.body


def _region(function: Callable, world: ModuleNames, fresh: frozenset[str], passing: frozenset[str]) -> Region:
    body = _body(function)
    declared = {
        n for node in own_nodes(body) if isinstance(node, ast.Global | ast.Nonlocal) for n in node.names
    }
    parameters = frozenset(p.arg for p in parameters_of(function))
    own = (frozenset(bound_names(body)) | parameters) - declared
    return Region(tuple(body), own, world, fresh=fresh, passing=passing, parameters=parameters)


def _result_names(world: ModuleNames) -> Iterator[str]:
    """Functions and methods whose results may be looked at: by that name nothing else is called."""
    yield from (name for name in world.functions if name not in world.hidden.unsure)
    hidden = world.hidden.values | _METHODS
    yield from (f".{name}" for name in world.methods if name not in hidden | world.hidden.unsure)


def _named(world: ModuleNames, names: frozenset[str], good: Set[Callable]) -> frozenset[str]:
    """Those names that mean good functions alone."""
    meant = {n: world.methods[n[1:]] if n.startswith(".") else world.functions[n] for n in names}
    return frozenset(n for n, functions in meant.items() if set(functions) <= good)


def _gives_new(function: Callable, facts: Facts) -> bool:
    return _returns(function) and not any(r.outer or r.inner for r in facts.results)


def _gives_parts(function: Callable, facts: Facts) -> bool:
    parameters = {p.arg for p in parameters_of(function)}
    origins = {o for r in facts.results for o in r.outer | r.inner}
    return _returns(function) and all(
        o.kind is OriginKind.SHARED and o.name.partition(".")[0] in parameters for o in origins
    )


def _returns(function: Callable) -> bool:
    """Whether calling it gives what it returns: it is no generator and no coroutine."""
    return not isinstance(function, ast.AsyncFunctionDef) and not any(
        isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(_body(function))
    )


def _direct(
    name: str, function: Callable, facts: Facts, world: ModuleNames, within: tuple[Callable, ...]
) -> Summary:
    body = _body(function)
    declared = {
        n: node for node in own_nodes(body) if isinstance(node, ast.Global | ast.Nonlocal) for n in node.names
    }
    bound = bound_names(body)
    reads = free_names(function)
    reached: set[ast.AST] = {f for call in facts.calls for f, _ in callees(call, world)}
    if any(is_opaque(call, world) for call in facts.calls):
        reached |= world.hidden.escaping
    attributes = {n.attr for s in body for n in every_node(s) if isinstance(n, ast.Attribute)}
    return Summary(
        node=function,
        name=name,
        rebinds={n: bound[n][0] for n in declared if n in bound},
        reads=reads,
        attributes=frozenset(attributes),
        mentions=mentioned(body, frozenset(), world) | reached,
        deeds=tuple(d for call in facts.calls for d in direct_deeds(call)),
        touches=dict(_taken_from(reads, body, world)),
        owners=_owners(within),
        closed=bool(within) and world.hidden.escaping.isdisjoint(every_node(within[0])),
        calls_values=next((c.node for c in facts.calls if is_opaque(c, world)), None),
        prints=any(map(writes_output, facts.calls)),
        unseen={text: c.node for c in facts.calls if (text := unseen(c, world)) is not None},
    )


def _taken_from(
    reads: Mapping[str, Node], body: list[ast.stmt], world: ModuleNames
) -> Iterator[tuple[str, Node]]:
    """Iterators that the function takes from: names of the module, attributes."""
    for name, node in reads.items():
        if any(place in world.iterators for place in world.bound.get(name, ())):
            yield name, node
    for part in (n for s in body for n in every_node(s)):
        if isinstance(part, ast.Attribute) and part.attr in world.iterators:
            yield ast.unparse(part), part


def _defaults(function: Callable) -> dict[str, ast.expr]:
    """The parameters whose default is an object that calls share and may change."""
    a = function.args
    positional = [*a.posonlyargs, *a.args]
    pairs = [*zip(positional[len(positional) - len(a.defaults) :], a.defaults, strict=True)]
    pairs += [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None]
    return {p.arg: d for p, d in pairs if not isinstance(d, ast.Constant | ast.UnaryOp)}


def _grown(
    summary: Summary, facts: Facts, world: ModuleNames, summaries: Mapping[ast.AST, Summary]
) -> Summary:
    function = summary.node
    defaults = _defaults(function)  # type: ignore[arg-type]
    parameters = frozenset(p.arg for p in parameters_of(function))  # type: ignore[arg-type]
    mutates, touches = set(summary.mutates), dict(summary.touches)
    for origins, node in _all_changes(facts, world, summaries):
        for origin in origins:
            root = origin.name.partition(".")[0]
            if origin.kind is OriginKind.SHARED and root in parameters:
                mutates.add(root)
                if root in defaults:
                    touches.setdefault(f"{root}={ast.unparse(defaults[root])}", node)
            elif origin.kind is OriginKind.SHARED:
                touches.setdefault(root, node)
            elif origin.kind is OriginKind.UNKNOWN:
                touches.setdefault(NOT_ITS_OWN, node)
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
