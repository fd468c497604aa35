"""Check the names that the body binds: none may carry a value from one iteration to another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, RelatedPlace
from dlbc.ir.access import OriginKind, RegionFacts
from dlbc.ir.effects import FunctionSummary
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import LoopNames
from dlbc.ir.scalars import ScalarFacts
from dlbc.ir.uses import UseKind, every_node, uses_of
from dlbc.source import Source

__all__ = ["check_scalars"]


def check_scalars(
    scalars: ScalarFacts,
    facts: RegionFacts,
    functions: Sequence[FunctionSummary],
    loop: AnnotatedLoop,
    names: LoopNames,
    source: Source,
    settled: Set[str] = frozenset(),
) -> Iterator[Diagnostic]:
    """Carried values, values seen by functions behind the back.

    ``settled``: carried names that are reductions, or of which it was said why they are none.
    """
    reported: set[str] = set(settled)
    for use in scalars.carried:
        if use.name in reported:
            continue
        reported.add(use.name)
        note = RelatedPlace(source.place_of(_binding(use.name, loop.node.body, use.node)), "bound here")
        yield report("DLB310", source.place_of(use.node), "read here", (note,), name=use.name)
    for function in functions:
        for name, node in function.reads.items():
            if name in names.temporaries and _sees(function.node, loop):
                note = RelatedPlace(source.place_of(loop.node), "in this loop")
                yield report(
                    "DLB313", source.place_of(node), "read here", (note,), name=name, function=function.name
                )
    for value, node in facts.escapes:
        if any(o.kind is OriginKind.CLOSURE for o in value.points_to | value.reachable):
            yield report("DLB314", source.place_of(node))


def _sees(function: ast.AST, loop: AnnotatedLoop) -> bool:
    """Whether the function's free names may mean the loop's: it stands in the same scope, not in the loop."""
    inside = any(n is function for n in every_node(loop.node))
    return not inside and any(n is function for n in every_node(loop.scope))


def _binding(name: str, body: Sequence[ast.stmt], default: ast.expr | ast.stmt | ast.excepthandler):  # type: ignore[no-untyped-def]
    for statement in body:
        for use in uses_of(statement):
            if use.name == name and use.kind is not UseKind.LOAD:
                return use.node
    return default
