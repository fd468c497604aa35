"""Check that nothing else depends on what iterations contribute to: functions, what the loop runs over."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from dlbc.analysis.callees import CONSTRUCTORS, functions_run, in_text_order, mention_of
from dlbc.analysis.container_kinds import ContainerKinds
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.effects import FunctionSummary
from dlbc.analysis.uses import every_node
from dlbc.analysis.walk_code import walk_code
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import RegionFacts
from dlbc.ir.access_path import AccessPath
from dlbc.ir.plan import IterationContributions
from dlbc.ir.region import CodeRegion, Expansion
from dlbc.source import SourcePlace


def check_contributions(
    context: AnalysisContext, facts: RegionFacts, contributions: IterationContributions
) -> tuple[Diagnostic, ...]:
    """The functions that may use a value in an object, and the iterable, to which iterations contribute.

    One finding of a kind per place.
    """
    paths = contributions.paths
    bases = {path.base.text for path in paths if not path.attributes}
    reached = _reached(context, facts, contributions) if paths else ()
    iterated = _iterated(context, {*contributions.containers, *contributions.names, *bases})
    found: dict[tuple[str, SourcePlace], Diagnostic] = {}
    for finding in (*reached, *iterated):
        found.setdefault((finding.code, finding.place), finding)
    return tuple(found.values())


def _reached(
    context: AnalysisContext, facts: RegionFacts, contributions: IterationContributions
) -> Iterator[Diagnostic]:
    paths = contributions.paths
    for function in _called(facts, context):
        place = context.place_of(mention_of(function, context.body))
        for path in paths:
            if _names(path, function.attributes, function.reads):
                note = context.note(function.node, "defined here")  # type: ignore[arg-type]
                yield report("DLB413", place, "", (note,), function=function.name, array=path.text)
    for call, expansion in facts.expansions.items():
        place = context.place_of(call)  # type: ignore[arg-type]  # a call or an attribute
        name = getattr(expansion.function, "name", "<lambda>")
        for path in paths:
            if _names(path, _attributes(expansion, contributions.roots), expansion.kept):
                yield report("DLB413", place, function=name, array=path.text)


def _names(path: AccessPath, attributes: Collection[str], names: Collection[str]) -> bool:
    """Whether code with these attributes, and names from outside, may lead to the value."""
    return not path.attributes.isdisjoint(attributes) or (not path.attributes and path.root in names)


def _attributes(expansion: Expansion, roots: frozenset[ast.AST]) -> set[str]:
    """The attributes that it mentions otherwise than to contribute."""
    nodes = (n for s in expansion.body for n in every_node(s))
    others = (n for n in nodes if isinstance(n, ast.Attribute) and not _begins_at(n, roots))
    return {n.attr for n in others}


def _begins_at(node: ast.expr, roots: frozenset[ast.AST]) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node in roots


def _called(facts: RegionFacts, context: AnalysisContext) -> tuple[FunctionSummary, ...]:
    """What the body calls or mentions by name, and all that this may call, apart from constructors."""
    reached = context.summaries.reachable(functions_run(facts, context.body, context.module))
    functions = (context.summaries.of[f] for f in reached)
    return in_text_order(f for f in functions if f.name not in CONSTRUCTORS)


def _iterated(context: AnalysisContext, grown: Collection[str]) -> Iterator[Diagnostic]:
    """What the loop runs over, if the body adds to it; stores by subscripts are proved like others."""
    if context.names.counter_in_range:
        return  # a `range` is fixed before the loop begins
    iterable = context.loop.node.iter
    statement = ast.copy_location(ast.Expr(iterable), iterable)
    for access in walk_code(CodeRegion((statement,), frozenset(), context.module)).accesses:
        if any(access.overlaps(array) for array in grown):
            keyed = ContainerKinds(context).is_dictionary(access.array)
            case = "dictionary" if keyed or _is_view_of_dictionary(iterable) else ""
            yield report("DLB316", context.place_of(access.node), case=case, array=access.array)


def _is_view_of_dictionary(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="items" | "keys" | "values"), args=[]):
            return True
    return False
