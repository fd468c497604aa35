"""Find the routines of a module: loops annotated `iterate` that stand around parallel loops.

A parallel loop belongs to a routine where it stands in it lexically and in the same function: what a
function of the body runs when it is called is no part of the text that the routine is made of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, RelatedPlace, has_errors
from dlbc.ir.annotation import Annotation, AnnotationKind
from dlbc.ir.loop import AnnotatedLoop, AnnotatedRoutine, Module
from dlbc.parse.argument_list import parse_arguments
from dlbc.parse.bind_comments import BoundComment, Loop, bind_comments
from dlbc.parse.find_comments import find_comments
from dlbc.parse.read_clauses import read_annotation
from dlbc.parse.read_values import ClauseReader
from dlbc.source import SourcePlace

__all__ = ["find_routines"]

_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Path = tuple[ast.AST, ...]


def find_routines(
    module: Module, loops: Sequence[AnnotatedLoop]
) -> tuple[tuple[AnnotatedRoutine, ...], tuple[Diagnostic, ...]]:
    """The routines in document order, and what is wrong with where they stand.

    ``loops`` are the parallel ones. Annotations that are wrong in themselves are left out: `find_loops` told.
    """
    if AnnotationKind.ITERATE.value not in module.source.text:
        return (), ()
    paths = dict(_loops(module.tree, ()))
    ordered = sorted(paths, key=lambda n: (n.lineno, n.col_offset))
    bound, _ = bind_comments(find_comments(module.source), ordered, module.source)
    found: list[AnnotatedRoutine] = []
    problems: list[Diagnostic] = []
    for comment in bound:
        annotation = _annotation(comment, module)
        if annotation is None or annotation.kind is not AnnotationKind.ITERATE:
            continue
        problem = _misplaced(comment.loop, annotation.place, paths, loops)
        if problem is not None:
            problems.append(problem)
        elif not isinstance(comment.loop, ast.AsyncFor):
            loop, path = comment.loop, paths[comment.loop]
            scope = [n for n in path if isinstance(n, _SCOPES)][-1]
            found.append(AnnotatedRoutine(loop, annotation, ordered.index(loop), path, scope))
    return tuple(found), tuple(problems)


def _loops(owner: ast.AST, above: _Path) -> Iterator[tuple[Loop, _Path]]:
    """Every loop below a node, with all that holds it."""
    path = (*above, owner)
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        children = getattr(owner, name, None)
        for child in children if isinstance(children, list) else ():
            if isinstance(child, Loop):
                yield child, path
            yield from _loops(child, path)


def _annotation(comment: BoundComment, module: Module) -> Annotation | None:
    arguments = parse_arguments(comment, module.source.path)
    if isinstance(arguments, Diagnostic):
        return None
    reader = ClauseReader(arguments)
    annotation = read_annotation(reader, comment.place)
    return None if has_errors(reader.problems) else annotation


def _misplaced(
    loop: Loop, place: SourcePlace, paths: dict[Loop, _Path], parallel: Sequence[AnnotatedLoop]
) -> Diagnostic | None:
    """Why the loop is no routine: within a parallel one, or around none."""
    around = [p for p in parallel if p.node in paths[loop]]
    if around:
        note = RelatedPlace(around[0].annotation.place, "the loop around it is parallel")
        return report("DLB120", place, notes=(note,))
    below = [p for p in parallel if loop in p.path]
    if isinstance(loop, ast.AsyncFor):
        return report("DLB129", place, reason="an `async for` waits between its passes")
    scopes = (*_SCOPES, ast.Lambda)
    if any(not any(isinstance(n, scopes) for n in p.path[p.path.index(loop) :]) for p in below):
        return None
    if below:
        name = next(n.name for n in below[0].path[below[0].path.index(loop) :] if isinstance(n, _SCOPES[1:]))
        return report("DLB128", place, found=f"one in `{name}` alone, which is only defined here")
    return report("DLB128", place, found="none")
