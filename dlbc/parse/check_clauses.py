"""What the clauses of one annotation say of each other, and of the loop they stand at."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbrt.contract import nearest

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.ir.annotation import Annotation, AnnotationKind, CostForm
from dlbc.parse.bind_comments import Loop
from dlbc.source import SourcePlace

__all__ = ["check_clauses"]


def check_clauses(annotation: Annotation, loop: Loop) -> tuple[Diagnostic, ...]:
    """Repeated and contradicting clauses, names that the loop does not have, clauses without effect."""
    if annotation.kind is AnnotationKind.ITERATE:
        return ()
    return (
        *_repeated(annotation),
        *_contradictions(annotation),
        *_absent(annotation, loop),
        *_without_effect(annotation),
        *_unsuitable(loop, annotation.place),
    )


def _named(annotation: Annotation) -> Iterator[tuple[str, str, SourcePlace]]:
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
    fold, cost, profile = annotation.fold, annotation.cost, annotation.profile
    if fold and annotation.nofold:
        yield report("DLB110", max(fold, annotation.nofold), one="fold", other="nofold")
    if fold and cost and cost.form is not CostForm.DENSITY:
        yield report("DLB110", max(fold, cost.place), one="fold", other=cost.written)
    if fold and profile:
        yield report("DLB110", max(fold, profile.place), one="fold", other="profile")


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
    if annotation.jit:
        yield report("DLB116", annotation.jit, clause="jit")


def _unsuitable(loop: Loop, place: SourcePlace) -> Iterator[Diagnostic]:
    if isinstance(loop, ast.While):
        yield report("DLB117", place)
    elif isinstance(loop, ast.AsyncFor):
        yield report("DLB118", place)
