"""Check functions that share names with the body: those that the body makes, and those that read its names.

Law: a function made in the body sees the names of its iteration on any rank, as long as it ends with the
iteration. One made outside would see the names of rank 0's program instead of the iteration's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.effects import FunctionSummary
from dlbc.analysis.enclosing_statements import bound_once, statements_before
from dlbc.analysis.uses import bound_names, every_node
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import OriginKind, RegionFacts

#: Functions that make an array of numbers, unless they are given an element type.
_OF_NUMBERS = frozenset(f"numpy.{name}" for name in ("zeros", "ones", "empty"))
_NUMBERS = ("numpy.float", "numpy.int", "numpy.complex", "float", "int", "complex", "bool")


def check_closures(
    context: AnalysisContext, facts: RegionFacts, functions: Sequence[FunctionSummary]
) -> Iterator[Diagnostic]:
    """Temporaries that ``functions`` outside the body read, and functions of the body that outlive it."""
    note = context.note(context.loop.node, "in this loop")
    for function in functions:
        for name, node in function.reads.items():
            # One that a function within the loop's scope binds is no name of the loop.
            of_loop = function.owners.get(name, context.loop.scope) is context.loop.scope
            if name in context.names.temporaries and of_loop and _sees(function.node, context):
                place = context.place_of(node)
                yield report("DLB313", place, "read here", (note,), name=name, function=function.name)
    closures = [
        (node, holder)
        for value, node, holder in facts.escapes
        if any(o.kind is OriginKind.CLOSURE for o in value.points_to | value.reachable)
    ]
    numeric = frozenset(_arrays_of_numbers(context) if closures else ())
    for node, holder in closures:
        if holder not in numeric:
            yield report("DLB314", context.place_of(node))


def _sees(function: ast.AST, context: AnalysisContext) -> bool:
    """Whether free names of the function may be the loop's: it is in the same scope, outside the loop.

    A function made by another parallel loop ends with its iteration. Only a name that the other loop binds
    leads to it afterwards.
    """
    loop = context.loop
    if function in every_node(loop.node) or function not in every_node(loop.scope):
        return False
    for other in loop.others:
        nodes = every_node(other)
        if function in nodes and loop.node not in nodes:
            return not bound_names(other.body).keys().isdisjoint(context.names.shared)
    return True


def _arrays_of_numbers(context: AnalysisContext) -> Iterator[str]:
    """Names of arrays whose elements are numbers: storing anything else into them raises."""
    imported = context.module.imported_name
    for statement in statements_before(context.loop):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                function = imported(ast.unparse(call.func))
                kinds = [*call.args[1:2], *(k.value for k in call.keywords if k.arg in (None, "dtype"))]
                texts = [ast.unparse(kind) for kind in kinds]
                plain = all((imported(text) or text).startswith(_NUMBERS) for text in texts)
                once = bound_once(name, context.loop, context.names, context.module)
                if function in _OF_NUMBERS and once and plain:
                    yield name
