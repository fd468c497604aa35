"""Check the names that the body binds: none may carry a value from one iteration to another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, Note
from dlbc.ir.access import Facts, OriginKind
from dlbc.ir.effects import Summary
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import LoopNames
from dlbc.ir.scalars import Scalars
from dlbc.ir.uses import UseKind, own_nodes, uses_of
from dlbc.source import Source

__all__ = ["check_scalars"]


def check_scalars(
    scalars: Scalars,
    facts: Facts,
    functions: Sequence[Summary],
    loop: AnnotatedLoop,
    names: LoopNames,
    source: Source,
) -> Iterator[Diagnostic]:
    """Carried values, reductions (not taken in this version), values seen by functions behind the back."""
    for clause in loop.annotation.reductions:
        yield report("DLB312", clause.place)
    declared = {n for clause in loop.annotation.reductions for n in clause.names}
    reported: set[str] = set(declared)
    for use in scalars.carried:
        if use.name in reported:
            continue
        reported.add(use.name)
        update = _update(use.name, loop.node.body)
        if update is not None:
            yield report("DLB311", source.place_of(update), name=use.name)
        else:
            note = Note(source.place_of(_binding(use.name, loop.node.body, use.node)), "bound here")
            yield report("DLB310", source.place_of(use.node), "read here", (note,), name=use.name)
    for function in functions:
        for name, node in function.reads.items():
            if name in names.temporaries and _sees(function.node, loop):
                note = Note(source.place_of(loop.node), "in this loop")
                yield report(
                    "DLB313", source.place_of(node), "read here", (note,), name=name, function=function.name
                )
    for value, node in facts.escapes:
        if any(o.kind is OriginKind.CLOSURE for o in value.outer | value.inner):
            yield report("DLB314", source.place_of(node))


def _sees(function: ast.AST, loop: AnnotatedLoop) -> bool:
    """Whether the function's free names may mean the loop's: it stands in the same scope, not in the loop."""
    inside = any(n is function for n in ast.walk(loop.node))
    return not inside and any(n is function for n in ast.walk(loop.scope))


def _binding(name: str, body: Sequence[ast.stmt], default: ast.expr | ast.stmt | ast.excepthandler):  # type: ignore[no-untyped-def]
    for statement in body:
        for use in uses_of(statement):
            if use.name == name and use.kind is not UseKind.LOAD:
                return use.node
    return default


def _update(name: str, body: Sequence[ast.stmt]) -> ast.stmt | None:
    """The statement that updates ``name`` from itself: ``s += e``, ``s = s + e``, ``s = max(s, e)``."""
    for node in own_nodes(body):
        match node:
            case ast.AugAssign(target=ast.Name(id=found)) if found == name:
                return node
            case ast.Assign(targets=[ast.Name(id=found)], value=ast.BinOp(left=left, right=right)) if (
                found == name
            ):
                parts = [left, right]
            case ast.Assign(
                targets=[ast.Name(id=found)], value=ast.Call(func=ast.Name(id="min" | "max"), args=parts)
            ) if found == name:
                pass
            case _:
                continue
        if any(isinstance(part, ast.Name) and part.id == name for part in parts):
            return node
    return None
