"""Summarize every function of the module: which parameters and globals it may change, and its side effects.

Theory: a fixpoint over the call graph. Functions are found by name, methods by their name alone (in any class
of the module), and calls of values reach every escaping function, so the graph holds every call that can
happen within the module. Functions of other packages change only what the library table says. Which results
are new, or part of the arguments, is a greatest fixpoint: by induction over the depth of calls, a result is
new if it is new whenever inner calls give new results.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from dlbc.analysis import effects
from dlbc.analysis.callees import functions_run, is_opaque, mutated_arguments, unseen_callee, watched_in
from dlbc.analysis.effects import FunctionSummaries, FunctionSummary, Node
from dlbc.analysis.uses import bound_names, every_node, free_names, own_nodes, parameters_of, receiver_of
from dlbc.analysis.walk_code import walk_code
from dlbc.ir.access import OriginKind, Origins, RegionFacts
from dlbc.ir.region import CodeRegion, FunctionNode, ModuleNames
from dlbc.library.row import EffectKind
from dlbc.library.table import methods_where

#: Methods that objects of other packages have too: a class of the module does not say what calls of them do.
_METHODS = methods_where(
    lambda row: row.effect in (None, EffectKind.MUTATE, EffectKind.ORDERED) and not row.iterator
) | frozenset(
    name for kind in (list, dict, set, str, bytes, tuple) for name in dir(kind) if not name.startswith("__")
)


def summarize_functions(module: ModuleNames) -> FunctionSummaries:
    """Summaries of all functions, methods and named lambdas."""
    tables = (module.functions, module.methods, {"<lambda>": module.implicit_calls.lambdas})
    nodes = [(name, f) for table in tables for name, functions in table.items() for f in functions]
    fresh = passing = frozenset(_result_names(module))
    facts: dict[FunctionNode, RegionFacts] = {}
    lost: frozenset[str] = fresh
    while True:
        for _, f in nodes:
            if f not in facts or any(call.function in lost for call in facts[f].calls):
                facts[f] = walk_code(_region(f, module, fresh, passing))
        new = _named(module, fresh, {f for f in facts if _gives_new(f, facts[f])})
        parts = _named(module, passing, {f for f in facts if _gives_parts(f, facts[f])})
        if (new, parts) == (fresh, passing):
            break
        lost = (fresh - new) | (passing - parts)
        fresh, passing = new, parts
    enclosing = _enclosing([f for _, f in nodes])
    summaries: dict[ast.AST, FunctionSummary] = {
        f: _direct(name, f, facts[f], module, enclosing.get(f, ())) for name, f in nodes
    }
    changed = True
    while changed:
        changed = False
        for _, function in nodes:
            grown = _grown(summaries[function], facts[function], module, summaries)
            changed = changed or grown != summaries[function]
            summaries[function] = grown
    return FunctionSummaries(summaries, fresh, passing)


def _enclosing(functions: list[FunctionNode]) -> dict[ast.AST, tuple[FunctionNode, ...]]:
    """The functions around each nested function, the outermost first."""
    found: dict[ast.AST, tuple[FunctionNode, ...]] = {}
    every = set(functions)
    for outer in sorted(every, key=lambda f: (f.lineno, f.col_offset)):
        for node in every_node(outer):
            if node is not outer and node in every:
                found[node] = (*found.get(node, ()), outer)
    return found


def _owners(enclosing: tuple[FunctionNode, ...]) -> dict[str, ast.AST]:
    """The innermost enclosing function that binds each name."""
    return {n: f for f in enclosing for n in (*bound_names(_body(f)), *(p.arg for p in parameters_of(f)))}


def _declared(body: list[ast.stmt]) -> dict[str, None]:
    """Names declared global or nonlocal, in the order of the text."""
    nodes = (n for n in own_nodes(body) if isinstance(n, ast.Global | ast.Nonlocal))
    return dict.fromkeys(name for node in nodes for name in node.names)


def _body(function: FunctionNode) -> list[ast.stmt]:
    if isinstance(function, ast.Lambda):
        value = ast.Return(function.body)
        return [ast.copy_location(value, function.body)]
    return function.body


def _region(
    function: FunctionNode, module: ModuleNames, fresh: frozenset[str], passing: frozenset[str]
) -> CodeRegion:
    body = _body(function)
    parameters = frozenset(p.arg for p in parameters_of(function))
    own = (frozenset(bound_names(body)) | parameters) - _declared(body).keys()
    return CodeRegion(
        tuple(body),
        own,
        module,
        fresh=fresh,
        returns_argument_parts=passing,
        parameters=parameters,
        receiver=receiver_of(function),
        by_name=True,
    )


def _result_names(module: ModuleNames) -> Iterator[str]:
    """Names of functions and methods by which nothing else is called, so that their results are known."""
    implicit = module.implicit_calls
    yield from (name for name in module.functions if name not in implicit.rebindable)
    hidden = implicit.callable_attributes | _METHODS | implicit.rebindable
    yield from (f".{name}" for name in module.methods if name not in hidden)


def _named(module: ModuleNames, names: frozenset[str], good: Set[FunctionNode]) -> frozenset[str]:
    """The names all of whose functions are ``good``."""
    functions = {n: module.methods[n[1:]] if n.startswith(".") else module.functions[n] for n in names}
    return frozenset(n for n, fs in functions.items() if set(fs) <= good)


def _gives_new(function: FunctionNode, facts: RegionFacts) -> bool:
    return _returns(function) and not any(r.points_to or r.reachable for r in facts.results)


def _gives_parts(function: FunctionNode, facts: RegionFacts) -> bool:
    parameters = {p.arg for p in parameters_of(function)}
    origins = {o for r in facts.results for o in r.points_to | r.reachable}
    return _returns(function) and all(
        o.kind is OriginKind.SHARED and o.name.partition(".")[0] in parameters for o in origins
    )


def _returns(function: FunctionNode) -> bool:
    """Whether a call gives what the function returns: it is no generator and no coroutine."""
    return not isinstance(function, ast.AsyncFunctionDef) and not any(
        isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(_body(function))
    )


def _direct(
    name: str,
    function: FunctionNode,
    facts: RegionFacts,
    module: ModuleNames,
    enclosing: tuple[FunctionNode, ...],
) -> FunctionSummary:
    body = _body(function)
    bound = bound_names(body)
    reads = free_names(function)
    attributes = {n.attr for s in body for n in every_node(s) if isinstance(n, ast.Attribute)}
    return FunctionSummary(
        node=function,
        name=name,
        rebinds={n: bound[n][0] for n in _declared(body) if n in bound},
        reads=reads,
        attributes=frozenset(attributes),
        mentions=functions_run(facts, body, module),
        side_effects=tuple(d for call in facts.calls for d in effects.direct_side_effects(call)),
        mutated_shared=dict(_advanced_iterators(reads, body, module)),
        owners=_owners(enclosing),
        called_by_name_only=bool(enclosing)
        and module.implicit_calls.escaping.isdisjoint(every_node(enclosing[0])),
        calls_values=next((c.node for c in facts.calls if is_opaque(c, module)), None),
        prints=any(map(effects.writes_output, facts.calls)),
        unseen={text: c.node for c in facts.calls if (text := unseen_callee(c, module)) is not None},
        watched=dict(watched_in(facts, module)),
    )


def _advanced_iterators(
    reads: Mapping[str, Node], body: list[ast.stmt], module: ModuleNames
) -> Iterator[tuple[str, Node]]:
    """Iterators that the function advances: names of the module, and attributes."""
    for name, node in reads.items():
        if any(place in module.iterators for place in module.bound.get(name, ())):
            yield name, node
    for part in (n for s in body for n in every_node(s)):
        if isinstance(part, ast.Attribute) and part.attr in module.iterators:
            yield ast.unparse(part), part


def _defaults(function: FunctionNode) -> dict[str, ast.expr]:
    """The parameters whose default is a mutable object, which calls share."""
    a = function.args
    positional = [*a.posonlyargs, *a.args]
    pairs = [*zip(positional[len(positional) - len(a.defaults) :], a.defaults, strict=True)]
    pairs += [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None]
    return {p.arg: d for p, d in pairs if not isinstance(d, ast.Constant | ast.UnaryOp)}


def _grown(
    summary: FunctionSummary,
    facts: RegionFacts,
    module: ModuleNames,
    summaries: Mapping[ast.AST, FunctionSummary],
) -> FunctionSummary:
    function = summary.node
    defaults = _defaults(function)  # type: ignore[arg-type]
    parameters = frozenset(p.arg for p in parameters_of(function))  # type: ignore[arg-type]
    mutated, shared = set(summary.mutated_parameters), dict(summary.mutated_shared)
    for origins, node in _all_changes(facts, module, summaries):
        for origin in origins:
            root = origin.name.partition(".")[0]
            if origin.kind is OriginKind.SHARED and root in parameters:
                mutated.add(root)
                if root in defaults:
                    shared.setdefault(f"{root}={ast.unparse(defaults[root])}", node)
            elif origin.kind is OriginKind.SHARED:
                shared.setdefault(root, node)
            elif origin.kind is OriginKind.UNKNOWN:
                shared.setdefault(effects.NOT_ITS_OWN, node)
    return replace(summary, mutated_parameters=frozenset(mutated), mutated_shared=shared)


def _all_changes(
    facts: RegionFacts, module: ModuleNames, summaries: Mapping[ast.AST, FunctionSummary]
) -> Iterator[tuple[Origins, ast.expr | ast.stmt]]:
    for change in facts.mutations:
        yield change.origins, change.node
    for access in facts.accesses:
        if access.writes:
            yield access.as_origins(), access.node
    for call in facts.calls:
        for side_effect in effects.direct_side_effects(call):
            yield side_effect.origins, call.node
        for _, value, node in mutated_arguments(call, module, summaries):
            yield value.points_to | value.reachable, node
