"""Find the annotated loops of a module: the parallel ones in document order, wholly validated.

A parallel loop inside another is not planned (it runs sequentially), but its annotation is checked.
"""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, RelatedPlace, Severity, has_errors
from dlbc.ir.annotation import Annotation, AnnotationKind
from dlbc.ir.loop import AnnotatedLoop, Module
from dlbc.parse.argument_list import parse_arguments
from dlbc.parse.bind_comments import BoundComment, Loop, bind_comments
from dlbc.parse.check_clauses import check_clauses
from dlbc.parse.find_comments import find_comments
from dlbc.parse.read_clauses import read_annotation
from dlbc.parse.read_values import ClauseReader
from dlbc.source import SourcePlace

__all__ = ["find_loops"]

_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Parents = dict[ast.AST, ast.AST]


def find_loops(module: Module) -> tuple[tuple[AnnotatedLoop, ...], bool, tuple[Diagnostic, ...]]:
    """The loops to be planned; whether the file has an annotation at all; what is wrong with them."""
    try:
        scanned = find_comments(module.source)
    except (
        tokenize.TokenError,
        SyntaxError,
    ):  # Python's own tokenizer reads a lone carriage return otherwise
        return (), True, (report("DLB009", SourcePlace(1, 1, 1, 2)),)
    if not scanned.comments and not scanned.near_misses:
        return (), False, ()
    parents = _parents(module.tree)
    loops = sorted((n for n in parents if isinstance(n, Loop)), key=lambda n: (n.lineno, n.col_offset))
    bound, problems = bind_comments(scanned, loops, module.source)
    found, faults = _read_all(bound, module)
    planned, remarks = _outermost(found, parents)
    ordinals = {loop: k for k, loop in enumerate(loops)}
    return (
        tuple(_annotated(loop, a, ordinals[loop], k, parents) for k, (loop, a) in enumerate(planned, 1)),
        bool(scanned.comments),
        (*problems, *faults, *remarks),
    )


def _parents(tree: ast.Module) -> _Parents:
    """Every statement, handler and case of the module, with what holds it."""
    parents: _Parents = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for child in _suites(node):
            parents[child] = node
            waiting.append(child)
    return parents


def _suites(node: ast.AST) -> Iterator[ast.AST]:
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        children = getattr(node, name, None)
        if isinstance(children, list):
            yield from children


def _read_all(
    bound: tuple[BoundComment, ...], module: Module
) -> tuple[list[tuple[Loop, Annotation]], list[Diagnostic]]:
    """The loops whose annotation is right, and what is wrong with the others."""
    found: list[tuple[Loop, Annotation]] = []
    faults: list[Diagnostic] = []
    for comment in bound:
        annotation, problems = _read(comment, module)
        if annotation is not None and not has_errors(problems):
            found.append((comment.loop, annotation))
        faults += problems
    return found, faults


def _read(comment: BoundComment, module: Module) -> tuple[Annotation | None, list[Diagnostic]]:
    arguments = parse_arguments(comment, module.source.path)
    if isinstance(arguments, Diagnostic):
        return None, [arguments]
    reader = ClauseReader(arguments)
    annotation = read_annotation(reader, comment.place)
    checks = check_clauses(annotation, comment.loop) if annotation else ()
    problems = [*reader.problems, *checks]
    if has_errors(problems):
        problems = [p for p in problems if p.severity is not Severity.REMARK]
    return annotation, problems


def _outermost(
    found: list[tuple[Loop, Annotation]], parents: _Parents
) -> tuple[list[tuple[ast.For, Annotation]], list[Diagnostic]]:
    parallel = {
        loop: a for loop, a in found if a.kind is AnnotationKind.PARALLEL and isinstance(loop, ast.For)
    }
    planned: list[tuple[ast.For, Annotation]] = []
    remarks: list[Diagnostic] = []
    for loop, annotation in sorted(parallel.items(), key=lambda item: item[0].lineno):
        around = [n for n in _ancestors(loop, parents) if n in parallel and _within_body(loop, n, parents)]
        if not around:
            planned.append((loop, annotation))
        else:
            note = RelatedPlace(parallel[around[0]].place, "the loop around it is parallel")
            remarks.append(report("DLB120", annotation.place, notes=(note,)))
    return planned, remarks


def _ancestors(node: ast.AST, parents: _Parents) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def _within_body(loop: ast.AST, outer: ast.AST, parents: _Parents) -> bool:
    """Whether ``loop`` stands in the body of ``outer`` rather than in its ``else``."""
    below = loop
    for node in _ancestors(loop, parents):
        if node is outer:
            break
        below = node
    return isinstance(outer, ast.For) and below in outer.body


def _annotated(
    loop: ast.For, annotation: Annotation, ordinal: int, number: int, parents: _Parents
) -> AnnotatedLoop:
    path = tuple(reversed(list(_ancestors(loop, parents))))
    return AnnotatedLoop(
        loop, annotation, ordinal, number, path, [n for n in path if isinstance(n, _SCOPES)][-1]
    )
