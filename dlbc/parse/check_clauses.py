"""What the clauses of one annotation say of each other, and of the loop they stand at."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.ir.annotation import Annotation, Kind
from dlbc.parse.bind_comments import Loop
from dlbc.parse.read_values import nearest
from dlbc.source import Place

__all__ = ["check_clauses"]


def check_clauses(annotation: Annotation, loop: Loop) -> tuple[Diagnostic, ...]:
    """Repeated and contradicting clauses, names that the loop does not have, clauses without effect."""
    if annotation.kind is Kind.ITERATE:
        return (report("DLB116", annotation.place, clause="iterate"),)
    return (
        *_repeated(annotation),
        *_contradictions(annotation),
        *_absent(annotation, loop),
        *_without_effect(annotation),
        *_unsuitable(loop, annotation.place),
    )


def _named(annotation: Annotation) -> Iterator[tuple[str, str, Place]]:
    """(clause, name, place) for every name that a clause lists."""
    for array in annotation.distributions:
        yield from ((array.distribution.value, name, array.place) for name in array.arrays)
    for reduction in annotation.reductions:
        yield from (("reduction", name, reduction.place) for name in reduction.names)
    for private in annotation.private:
        yield from (("private", name, private.place) for name in private.names)


def _repeated(annotation: Annotation) -> Iterator[Diagnostic]:
    first: dict[str, str] = {}
    for clause, name, place in _named(annotation):
        if name in first:
            yield report("DLB109", place, name=name, one=first[name], other=clause)
        first.setdefault(name, clause)


def _contradictions(annotation: Annotation) -> Iterator[Diagnostic]:
    if annotation.fold and annotation.nofold:
        yield report("DLB110", max(annotation.fold, annotation.nofold), one="fold", other="nofold")


def _absent(annotation: Annotation, loop: Loop) -> Iterator[Diagnostic]:
    present = _names_in(loop)
    for clause, name, place in _named(annotation):
        if name not in present:
            yield report("DLB112", place, clause=clause, name=name, hint=nearest(name, present))


def _names_in(loop: Loop) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            if isinstance(inner, ast.Name):
                names.add(ast.unparse(node))
    return names


def _without_effect(annotation: Annotation) -> Iterator[Diagnostic]:
    places = {
        "cost": annotation.cost.place if annotation.cost else None,
        "profile": annotation.profile.place if annotation.profile else None,
        "fold": annotation.fold,
        "nofold": annotation.nofold,
        "jit": annotation.jit,
    }
    for clause, place in places.items():
        if place:
            yield report("DLB116", place, clause=clause)


def _unsuitable(loop: Loop, place: Place) -> Iterator[Diagnostic]:
    if isinstance(loop, ast.While):
        yield report("DLB117", place)
    elif isinstance(loop, ast.AsyncFor):
        yield report("DLB118", place)
