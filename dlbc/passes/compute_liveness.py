"""Compute which names are read after the loop, before they are bound anew.

Theory: backward liveness over the structured statements of the enclosing function or module. Where control
may leave early (handlers, jumps) nothing is taken as overwritten. A name that another function sees (as a
global or through a closure) is live, and so is everything where a program looks names up by text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import pairwise

from dlbc.analysis.uses import UseKind, cached_on_node, every_node, free_names, uses_of
from dlbc.ir.loop import AnnotatedLoop

Live = frozenset[str]
Functions = ast.FunctionDef | ast.AsyncFunctionDef
Scopes = Functions | ast.Lambda | ast.ClassDef
Observer = Scopes | ast.Global | ast.Name

#: What may stop an exception, or look at names while it passes.
_CATCHING = ast.Try | ast.TryStar | ast.With | ast.AsyncWith

#: Builtins that see names by text.
DYNAMIC = frozenset({"globals", "locals", "vars", "eval", "exec"})


def compute_liveness(loop: AnnotatedLoop, names: frozenset[str]) -> Live:
    """Those of ``names`` whose value is read after the loop has ended."""
    outside = _seers_outside(loop)
    if any(isinstance(n, ast.Name) for n in outside):
        return names
    live = _after(loop) | _captured(loop, outside) | loop.read_by_costs
    return names & live


def is_seen_after_failure(loop: AnnotatedLoop, names: frozenset[str]) -> bool:
    """Whether one of ``names`` may be read once an exception of the loop's body has left the loop.

    It leaves the scope as well, unless a `try` or `with` is around the loop there.
    """
    outside = _seers_outside(loop)
    around = loop.path[next(k for k, node in enumerate(loop.path) if node is loop.scope) :]
    if any(isinstance(node, _CATCHING) for node in around):
        return True
    return any(isinstance(n, ast.Name) for n in outside) or bool(names & _captured(loop, outside))


def _seers_outside(loop: AnnotatedLoop) -> list[Observer]:
    return [n for n in cached_on_node(loop.path[0], "_dlbc_seers", _seers) if not _within(n, loop.node)]


def _seers(root: ast.AST) -> Iterator[Observer]:
    """What may see names of a scope from elsewhere: functions, classes, declarations, some builtins."""
    for node in every_node(root):
        if isinstance(node, Scopes | ast.Global) or (isinstance(node, ast.Name) and node.id in DYNAMIC):
            yield node


def _within(node: Observer, outer: ast.expr | ast.stmt) -> bool:
    """Whether the place of ``node`` is in that of ``outer``."""
    begin, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    first, last = (outer.lineno, outer.col_offset), (outer.end_lineno or 0, outer.end_col_offset or 0)
    return first <= begin and end <= last


def _captured(loop: AnnotatedLoop, outside: Iterable[Observer]) -> Live:
    """Names of the loop's scope that functions and classes outside the loop see as theirs."""
    scope = loop.scope
    found: set[str] = set()
    for node in outside:
        below = isinstance(scope, ast.Module) or (node is not scope and _within(node, scope))
        if isinstance(node, Scopes) and below and not _encloses(node, loop):
            found |= free_names(node).keys()
    if isinstance(scope, ast.Module):
        for node in outside:
            if isinstance(node, ast.Global):
                found |= set(node.names)
    return frozenset(found)


def _encloses(node: ast.AST, loop: AnnotatedLoop) -> bool:
    return any(node is n for n in loop.path)


def _after(loop: AnnotatedLoop) -> Live:
    chain = [
        n for n in loop.path if isinstance(n, ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case)
    ]
    start = next(k for k in reversed(range(len(chain))) if chain[k] is loop.scope)
    owners = [*chain[start:], loop.node]
    walk = _Backward()
    out: Live = frozenset()
    for owner, inner in pairwise(owners):
        out = walk.beyond(owner, inner, out)
    return walk.block(loop.node.orelse, out)


class _Backward:
    """Backward over statements. ``_jumps`` holds what is live where breaks and continues of a loop lead."""

    def __init__(self) -> None:
        self._jumps: list[tuple[Live, Live]] = []
        self._guards: list[Live] = []

    def beyond(self, owner: ast.AST, inner: ast.AST, out: Live) -> Live:
        """What is live after ``inner``, a direct part of ``owner``, with ``out`` live after ``owner``."""
        if isinstance(owner, Scopes | ast.Module):
            self._jumps, self._guards, out = [], [], frozenset()
        elif isinstance(owner, ast.For | ast.AsyncFor | ast.While):
            again = self.statement(owner, out)
            if any(inner is s for s in owner.body):
                self._jumps.append((out, again))
                out = again
        elif isinstance(owner, ast.Try | ast.TryStar):
            out = self._beyond_try(owner, inner, out)
        for statements in _lists(owner):
            for position, statement in enumerate(statements):
                if statement is inner:
                    return self.block(statements[position + 1 :], out)
        return out

    def _beyond_try(self, owner: ast.Try | ast.TryStar, inner: ast.AST, out: Live) -> Live:
        finale = self.block(owner.finalbody, out) if not any(inner is s for s in owner.finalbody) else out
        handlers: Live = frozenset(n for h in owner.handlers for n in _reads([h]))
        if any(inner is s for s in owner.finalbody):
            return out
        self._guards.append(finale | handlers)
        if any(inner is s for s in owner.body):
            return self.block(owner.orelse, finale) | handlers | finale
        return finale

    def block(self, statements: Iterable[ast.stmt], out: Live) -> Live:
        """What is live before ``statements``."""
        for statement in reversed(list(statements)):
            out = self.statement(statement, out)
        return out

    def statement(self, node: ast.stmt, out: Live) -> Live:
        """What is live before one statement."""
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return self._plain(test, self.block(body, out) | self.block(orelse, out))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, out)
            case ast.Return() | ast.Raise():
                return self._plain(node, frozenset(n for g in self._guards for n in g))
            case ast.Break() | ast.Continue():
                guarded = frozenset(n for g in self._guards for n in g)
                return guarded | (self._jumps[-1][isinstance(node, ast.Continue)] if self._jumps else out)
            case ast.Try() | ast.TryStar() | ast.With() | ast.AsyncWith() | ast.Match():
                return self._guarded(node, out)
        return self._plain(node, out)

    def _guarded(self, node: ast.stmt, out: Live) -> Live:
        if isinstance(node, ast.With | ast.AsyncWith) and not self._jumps:
            live = self.block(node.body, out) | out
            for item in reversed(node.items):
                live = self._plain(item, live)
            return live
        targets = frozenset(n for pair in self._jumps for live in pair for n in live)
        return out | frozenset(_reads([node])) | targets

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, out: Live) -> Live:
        after = self.block(node.orelse, out) | out
        head = after
        for _ in range(2):
            self._jumps.append((out, head))
            body = self.block(node.body, head)
            self._jumps.pop()
            if isinstance(node, ast.While):
                head = self._plain(node.test, body | after)
            else:
                head = self._plain(node.target, body) | after
        return head if isinstance(node, ast.While) else self._plain(node.iter, head)

    @staticmethod
    def _plain(node: ast.AST, out: Live) -> Live:
        for use in reversed(list(uses_of(node))):
            if use.kind is UseKind.LOAD:
                out |= {use.name}
            elif use.sure:
                out -= {use.name}
        return out


def _reads(nodes: Iterable[ast.AST]) -> Live:
    return frozenset(u.name for n in nodes for u in uses_of(n) if u.kind is UseKind.LOAD)


def _lists(owner: ast.AST) -> list[list[ast.stmt]]:
    fields = ("body", "orelse", "finalbody")
    return [part for name in fields if isinstance(part := getattr(owner, name, None), list)]
