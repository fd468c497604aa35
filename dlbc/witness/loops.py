"""The loops to be watched: all that are annotated, also those within another parallel loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.diagnostics import Diagnostic
from dlbc.ir.annotation import Annotation
from dlbc.ir.loop import Module
from dlbc.parse.argument_list import parse_arguments
from dlbc.parse.bind_comments import bind_comments
from dlbc.parse.find_comments import find_comments
from dlbc.parse.find_loops import find_loops
from dlbc.parse.read_clauses import read_annotation
from dlbc.parse.read_values import ClauseReader
from dlbc.witness.record import WatchedLoop

__all__ = ["loops_to_watch"]

#: The remark on a parallel loop within another one, which the compiler leaves alone.
_NESTED = "DLB120"


def loops_to_watch(module: Module) -> tuple[dict[ast.For, WatchedLoop], tuple[Diagnostic, ...]]:
    """The annotated loops in document order, and what is wrong with annotations."""
    loops, _, diagnostics = find_loops(module)
    found = {loop.node: loop.annotation for loop in loops}
    places = {d.place for d in diagnostics if d.code == _NESTED}
    found |= {node: annotation for node, annotation in _nested(module) if annotation.place in places}
    ordered = sorted(found, key=lambda node: (node.lineno, node.col_offset))
    others = tuple(d for d in diagnostics if d.code != _NESTED)
    return {node: _watched(module, node, found[node]) for node in ordered}, others


def _nested(module: Module) -> Iterator[tuple[ast.For, Annotation]]:
    loops = [n for n in ast.walk(module.tree) if isinstance(n, ast.For | ast.AsyncFor | ast.While)]
    for comment in bind_comments(find_comments(module.source), loops, module.source)[0]:
        arguments = parse_arguments(comment, module.source.path)
        if isinstance(comment.loop, ast.For) and not isinstance(arguments, Diagnostic):
            annotation = read_annotation(ClauseReader(arguments), comment.place)
            if annotation is not None:
                yield comment.loop, annotation


def _watched(module: Module, node: ast.For, annotation: Annotation) -> WatchedLoop:
    nodes = list(ast.walk(node))
    mentions = sorted((n.lineno, n.col_offset, n.id) for n in nodes if isinstance(n, ast.Name))
    names = dict.fromkeys(name for _, _, name in mentions)
    suspended = any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in nodes)
    reason = "whose body is suspended by `yield` or `await`" if suspended else ""
    return WatchedLoop(module.source.place_of(node), annotation, tuple(names), reason)
