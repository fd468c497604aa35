"""Find the annotated loops of a module, wholly validated: the parallel ones, and the routines around them.

A parallel loop inside another one is not planned (it runs sequentially), but its annotation is checked. A
routine is a loop annotated `iterate`. A parallel loop belongs to a routine that encloses it lexically, in the
same function: what a function called from the body runs is no part of the routine's text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbrt.contract import nearest

from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace, Severity, has_errors
from dlbc.ir.annotation import Annotation, AnnotationKind, CostForm
from dlbc.ir.loop import AnnotatedLoop, AnnotatedRoutine, Module, Scope
from dlbc.parse.argument_list import ClauseReader, parse_arguments
from dlbc.parse.comments import BoundComment, Loop, bind_comments, find_comments
from dlbc.parse.read_clauses import read_annotation
from dlbc.source import SourcePlace

_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Parents = dict[ast.AST, ast.AST]


def find_loops(module: Module) -> tuple[tuple[AnnotatedLoop, ...], bool, tuple[Diagnostic, ...]]:
    """The loops to plan; whether the file has any annotation; diagnostics of faulty ones."""
    scanned = find_comments(module.source)
    if scanned.fails_at:
        return (), True, (report("DLB009", SourcePlace(scanned.fails_at, 1, scanned.fails_at, 2)),)
    if not scanned.comments and not scanned.near_misses:
        return (), False, ()
    parents = _parents(module.tree)
    loops = _loops_in_order(parents)
    bound, problems = bind_comments(scanned, loops, module.source)
    valid: list[tuple[Loop, Annotation]] = []
    faults: list[Diagnostic] = []
    for comment in bound:
        annotation, found = _read(comment, module)
        faults += found
        if annotation is not None and not has_errors(found):
            valid.append((comment.loop, annotation))
    planned, remarks = _outermost(valid, parents)
    ordinals = {loop: number for number, loop in enumerate(loops)}
    annotated = tuple(
        _in_module(loop, annotation, ordinals[loop], number, _path(loop, parents), module)
        for number, (loop, annotation) in enumerate(planned, 1)
    )
    return annotated, bool(scanned.comments), (*problems, *faults, *remarks)


def _in_module(
    loop: ast.For,
    annotation: Annotation,
    ordinal: int,
    number: int,
    path: tuple[ast.AST, ...],
    module: Module,
) -> AnnotatedLoop:
    scope = _scope(path)
    attributes = isinstance(scope, ast.ClassDef) or (module.imported and isinstance(scope, ast.Module))
    return AnnotatedLoop(loop, annotation, ordinal, number, path, scope, names_are_attributes=attributes)


def find_candidates(module: Module) -> tuple[AnnotatedLoop, ...]:
    """The `for` loops that an annotation could be added to, as if annotated `parallel`, in document order.

    Loops that have an annotation, or are inside or around an annotated parallel loop, are left out. The
    annotations of the module are without errors.
    """
    parents = _parents(module.tree)
    loops = _loops_in_order(parents)
    bound, _ = bind_comments(find_comments(module.source), loops, module.source)
    taken: set[ast.AST] = {comment.loop for comment in bound}
    parallel = {annotated.node for annotated in find_loops(module)[0]}
    taken |= {around for loop in parallel for around in _ancestors(loop, parents)}
    found: list[AnnotatedLoop] = []
    for ordinal, loop in enumerate(loops):
        path = _path(loop, parents)
        if isinstance(loop, ast.For) and loop not in taken and parallel.isdisjoint(path):
            place = module.source.place_of(loop)
            head = SourcePlace(place.line, place.column, place.line, place.column + len("for"))
            annotation = Annotation(AnnotationKind.PARALLEL, head)
            found.append(_in_module(loop, annotation, ordinal, len(found) + 1, path, module))
    return tuple(found)


def _parents(tree: ast.Module) -> _Parents:
    """Every statement, handler and case of the module, with its parent."""
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


def _loops_in_order(parents: _Parents) -> list[Loop]:
    return sorted((n for n in parents if isinstance(n, Loop)), key=lambda n: (n.lineno, n.col_offset))


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
    """Whether ``loop`` is in the body of ``outer`` rather than in its ``else``."""
    below = loop
    for node in _ancestors(loop, parents):
        if node is outer:
            break
        below = node
    return isinstance(outer, ast.For) and below in outer.body


def _path(node: ast.AST, parents: _Parents) -> tuple[ast.AST, ...]:
    """The nodes around a node, from the module down."""
    return tuple(reversed(list(_ancestors(node, parents))))


def _scope(path: Sequence[ast.AST]) -> Scope:
    return [n for n in path if isinstance(n, _SCOPES)][-1]


def find_routines(
    module: Module, loops: Sequence[AnnotatedLoop]
) -> tuple[tuple[AnnotatedRoutine, ...], tuple[Diagnostic, ...]]:
    """The routines in document order, and diagnostics of misplaced ones.

    ``loops``: the parallel ones. Faulty annotations are left out: `find_loops` reports them.
    """
    if AnnotationKind.ITERATE.value not in module.source.text:
        return (), ()
    parents = _parents(module.tree)
    ordered = _loops_in_order(parents)
    bound, _ = bind_comments(find_comments(module.source), ordered, module.source)
    ordinals = {loop: number for number, loop in enumerate(ordered)}
    found: list[AnnotatedRoutine] = []
    problems: list[Diagnostic] = []
    for comment in bound:
        loop, (annotation, faults) = comment.loop, _read(comment, module)
        if annotation is None or annotation.kind is not AnnotationKind.ITERATE or has_errors(faults):
            continue
        path = _path(loop, parents)
        problem = _misplaced(loop, annotation.place, path, loops)
        if problem is not None:
            problems.append(problem)
        elif not isinstance(loop, ast.AsyncFor):
            found.append(AnnotatedRoutine(loop, annotation, ordinals[loop], path, _scope(path)))
    return tuple(found), tuple(problems)


def _misplaced(
    loop: Loop, place: SourcePlace, path: Sequence[ast.AST], parallel: Sequence[AnnotatedLoop]
) -> Diagnostic | None:
    """Why the loop is no routine: it is inside a parallel loop, or encloses none."""
    around = [p for p in parallel if p.node in path]
    if around:
        note = RelatedPlace(around[0].annotation.place, "the loop around it is parallel")
        return report("DLB120", place, notes=(note,))
    below = [p for p in parallel if loop in p.path]
    if isinstance(loop, ast.AsyncFor):
        return report("DLB129", place, reason="an `async for` waits between its passes")
    between = [[n for n in p.path[p.path.index(loop) :] if isinstance(n, _SCOPES)] for p in below]
    if not between:
        return report("DLB128", place, found="none")
    if not all(between):
        return None
    name = getattr(between[0][0], "name", "")
    return report("DLB128", place, found=f"one in `{name}` alone, which is only defined here")


def check_clauses(annotation: Annotation, loop: Loop) -> tuple[Diagnostic, ...]:
    """Repeated and contradicting clauses, names that the loop does not have, clauses without effect."""
    if annotation.kind is AnnotationKind.ITERATE:
        return ()
    return (
        *_repeated(annotation),
        *_contradictions(annotation),
        *_absent(annotation, loop),
        *_unsuitable(annotation, loop),
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
    """Names and dotted names that the loop mentions."""
    names: set[str] = set()
    for node in ast.walk(loop):
        inner = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if isinstance(inner, ast.Name):
            names.add(ast.unparse(node))
    return names


def _unsuitable(annotation: Annotation, loop: Loop) -> Iterator[Diagnostic]:
    if isinstance(loop, ast.While):
        yield report("DLB117", annotation.place)
    elif isinstance(loop, ast.AsyncFor):
        yield report("DLB118", annotation.place)
