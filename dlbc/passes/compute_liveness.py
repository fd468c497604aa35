"""Compute which names are live after the loop: read there before they are bound again.

Theory: backward liveness over the structured statements of the enclosing function or module (Aho, Lam, Sethi,
Ullman, 9.2.5). Where control may leave early (handlers, jumps), no name is assumed overwritten. A name that
another function sees (as a global or through a closure) is live. Every name is live where the program looks
names up by text.
"""

from __future__ import annotations

import ast
import operator
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.uses import Node, ScalarFacts, UseKind, cached_on_node, every_node, free_names, uses_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.loop import AnnotatedLoop

Live = frozenset[str]
Functions = ast.FunctionDef | ast.AsyncFunctionDef
Scopes = Functions | ast.Lambda | ast.ClassDef
Observer = Scopes | ast.Global | ast.Name

#: Statements that may stop an exception, or read names while it passes.
_CATCHING = ast.Try | ast.TryStar | ast.With | ast.AsyncWith

#: Builtins that look names up by text, and what stands for all the names that they may find.
_LOOKING_UP = frozenset({"globals", "locals", "vars", "eval", "exec"})
_BY_TEXT = "(by text)"


def compute_liveness(loop: AnnotatedLoop, names: frozenset[str]) -> Live:
    """Those of ``names`` whose value is read after the loop has ended."""
    seen = _seen_outside(loop, names | {_BY_TEXT})
    if loop.names_are_attributes or _BY_TEXT in seen:
        return names
    return names & (_after(loop, names) | seen | loop.read_by_costs)


def is_seen_after_failure(loop: AnnotatedLoop, names: frozenset[str]) -> bool:
    """Whether one of ``names`` may be read once an exception of the loop's body has left the loop.

    The exception leaves the scope as well, unless a `try` or `with` of the scope encloses the loop.
    """
    if loop.names_are_attributes:
        return True
    around = loop.path[next(k for k, node in enumerate(loop.path) if node is loop.scope) :]
    if any(isinstance(node, _CATCHING) for node in around):
        return True
    return bool(_seen_outside(loop, names | {_BY_TEXT}))


def _seen_outside(loop: AnnotatedLoop, names: Live) -> Live:
    """Those of ``names`` of the loop's scope that something outside the loop may see from elsewhere.

    What sees names are free names of functions and classes, declarations, and functions that look names up
    (`_BY_TEXT` stands for them). The count of the scope, less that of the loop, is what is outside.
    """
    inside = Counter(_seen(loop.node, loop.scope))
    [everywhere] = cached_on_node(loop.scope, "_dlbc_seen", lambda scope: [Counter(_seen(scope, scope))])
    return frozenset(name for name in names if everywhere[name] > inside[name])


def _seen(root: ast.AST, scope: ast.AST) -> Iterator[str]:
    """What functions, classes, declarations and builtins below ``root`` may see of a scope."""
    whole = isinstance(scope, ast.Module)
    for node in every_node(root):
        if not isinstance(node, Observer) or node is scope or not (whole or _within(node, scope)):
            continue
        if isinstance(node, Scopes):
            yield from free_names(node)
        elif isinstance(node, ast.Name) and node.id in _LOOKING_UP:
            yield _BY_TEXT
        elif isinstance(node, ast.Global) and whole:
            yield from node.names


def _within(node: Observer, outer: ast.AST) -> bool:
    """Whether the place of ``node`` lies within the place of ``outer``."""
    begin, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    first, last = (outer.lineno, outer.col_offset), (outer.end_lineno or 0, outer.end_col_offset or 0)  # type: ignore[attr-defined]
    return first <= begin and end <= last


def _after(loop: AnnotatedLoop, names: Live) -> Live:
    """Those of ``names`` that are live after the loop; others may be left out."""
    kinds = ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case
    chain = [n for n in loop.path if isinstance(n, kinds)]
    start = next(k for k in reversed(range(len(chain))) if chain[k] is loop.scope)
    walk = _Backward(names)
    out: Live = frozenset()
    for owner, inner in pairwise([*chain[start:], loop.node]):
        out = walk.after(owner, inner, out)
    return walk.block(loop.node.orelse, out)


#: Loops in so many others count as reading first whatever they read: each is walked twice otherwise.
_TWICE = 6


class _Backward:
    """Liveness, backward over statements.

    ``_jumps``: for each loop around, what is live after a `break` and after a `continue`. ``_handled``: for
    each `try` around, what is live where it catches an exception.
    """

    def __init__(self, names: Live) -> None:
        self._names = names
        self._jumps: list[tuple[Live, Live]] = []
        self._handled: list[Live] = []

    def after(self, owner: ast.AST, inner: ast.AST, out: Live) -> Live:
        """What is live after ``inner``, a direct part of ``owner``, with ``out`` live after ``owner``."""
        if isinstance(owner, Scopes | ast.Module):
            self._jumps, self._handled, out = [], [], frozenset()
        elif isinstance(owner, ast.For | ast.AsyncFor | ast.While):
            again = self._again(owner, out)
            if inner in owner.body:
                self._jumps.append((out, again))
                out = again
        elif isinstance(owner, ast.Try | ast.TryStar):
            out = self._after_part_of_try(owner, inner, out)
        for block in cached_on_node(owner, "_dlbc_live", lambda node: map(_Block, _lists(node))):
            if inner in block.positions:
                return self._rest(block, block.positions[inner] + 1, out)
        return out

    def _rest(self, block: _Block, start: int, out: Live) -> Live:
        """What is live before the statements of a block from ``start`` on."""
        if self._jumps or self._handled:
            known = block.walked.get(key := self._key(out))
            if known is None:
                known = block.walked[key] = self._walked(block.statements, out)
            return known[start]
        return frozenset(n for n in self._names if block.is_live(n, start, n in out))

    def _key(self, out: Live) -> Hashable:
        """What the walk back over a block depends on: loops with the same names have it in common."""
        names = self._names
        jumps = tuple((one & names, other & names) for one, other in self._jumps)
        return names, out & names, jumps, tuple(handled & names for handled in self._handled)

    def _walked(self, statements: Sequence[ast.stmt], out: Live) -> list[Live]:
        """What of the names is live before each statement, and after the last."""
        found = [out & self._names]
        for statement in reversed(statements):
            found.append(self.statement(statement, found[-1]) & self._names)
        return found[::-1]

    def _again(self, owner: ast.For | ast.AsyncFor | ast.While, out: Live) -> Live:
        """What of the names is live before a loop."""
        [known] = cached_on_node(owner, "_dlbc_again", lambda _: [dict[Hashable, Live]()])
        key = self._key(out)
        if key not in known:
            known[key] = self.statement(owner, out) & self._names
        return known[key]

    def _after_part_of_try(self, owner: ast.Try | ast.TryStar, inner: ast.AST, out: Live) -> Live:
        if inner in owner.finalbody:
            return out
        final = self.block(owner.finalbody, out)
        handlers = _reads(owner.handlers)
        self._handled.append(final | handlers)
        return self.block(owner.orelse, final) | handlers | final if inner in owner.body else final

    def block(self, statements: Iterable[ast.stmt], out: Live) -> Live:
        """What is live before ``statements``."""
        for statement in reversed(list(statements)):
            out = self.statement(statement, out)
        return out

    def statement(self, node: ast.stmt, out: Live) -> Live:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return self._plain(test, self.block(body, out) | self.block(orelse, out))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, out)
            case ast.Return() | ast.Raise():
                return self._plain(node, frozenset[str]().union(*self._handled))
            case ast.Break() | ast.Continue():
                handled = frozenset[str]().union(*self._handled)
                return handled | (self._jumps[-1][isinstance(node, ast.Continue)] if self._jumps else out)
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
        if len(self._jumps) >= _TWICE:
            after |= _reads(node.body)
        head = after
        for _ in range(2 if len(self._jumps) < _TWICE else 1):
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
            if use.kind is not UseKind.STORE:  # a name to be deleted must have a value as well
                out |= {use.name}
            elif use.sure:
                out -= {use.name}
        return out


class _Block:
    """The statements of a block that no loop and no `try` of the scope encloses, and what is live within.

    Whether a name is live before a statement depends on whether it is live behind it, and on no other name.
    So one walk back over the block, which looks at each statement for the names in it, answers for every
    loop of the block. What is live after the block is an assumption, of which there are two.
    """

    def __init__(self, statements: list[ast.stmt]) -> None:
        self.statements = statements
        self.positions: Mapping[ast.AST, int] = {s: k for k, s in enumerate(statements)}
        self.walked: dict[Hashable, list[Live]] = {}

    def is_live(self, name: str, start: int, after: bool) -> bool:
        """Whether a name is live before the statement at ``start``, if ``after`` tells so of the end."""
        found = self._assuming_live if after else self._assuming_dead
        places, ends = found.get(name, ([], [])), found.get(_OTHERS, ([], []))
        nearest = [
            (here[0][k - 1], here[1][k - 1]) for here in (places, ends) if (k := _from(here[0], start))
        ]
        return min(nearest, key=operator.itemgetter(0))[1] if nearest else after

    @cached_property
    def _assuming_live(self) -> _Known:
        return self._walked(True)

    @cached_property
    def _assuming_dead(self) -> _Known:
        return self._walked(False)

    def _walked(self, others: bool) -> _Known:
        """For each name the statements that have it, from the last on, and whether it is live before each.

        `_OTHERS` stands for all names that a statement does not have: none is live before one that is left
        by `return` or `raise` on every path.
        """
        walk, found = _Backward(frozenset()), _Known()
        live: dict[str, bool] = {}
        for position in reversed(range(len(self.statements))):
            statement = self.statements[position]
            names = {use.name for use in uses_of(statement)}
            out = frozenset({_OTHERS}.union(n for n in names if live.get(n, others)))
            before = walk.statement(statement, out)
            if _OTHERS not in before:
                live, others, names = {}, False, {*names, _OTHERS}
            for name in names:
                live[name] = name in before
                places = found.setdefault(name, ([], []))
                places[0].append(position)
                places[1].append(live[name])
        return found


#: For each name positions in a block, in descending order, and whether the name is live there.
_Known = dict[str, tuple[list[int], list[bool]]]

#: Stands for every name that a statement does not have.
_OTHERS = "(others)"


def _from(places: list[int], start: int) -> int:
    """How many of the descending positions are at least ``start``; the last of those is the nearest."""
    return bisect_right(places, -start, key=operator.neg)


def _reads(nodes: Sequence[ast.AST]) -> Live:
    caught = {part for n in nodes for part in _uses_of_caught(n)}
    uses = (u for n in nodes for u in uses_of(n) if u.kind is not UseKind.STORE)
    return frozenset(u.name for u in uses if u.node not in caught)


def _uses_of_caught(node: ast.AST) -> Iterator[ast.AST]:
    """Where handlers use the exception that they have caught: they bind and delete its name."""
    for handler in every_node(node):
        if isinstance(handler, ast.ExceptHandler) and handler.name:
            yield handler
            parts = (part for statement in handler.body for part in every_node(statement))
            yield from (p for p in parts if isinstance(p, ast.Name) and p.id == handler.name)


def _lists(owner: ast.AST) -> list[list[ast.stmt]]:
    fields = ("body", "orelse", "finalbody")
    return [part for name in fields if isinstance(part := getattr(owner, name, None), list)]


def check_kept(
    context: AnalysisContext, live: frozenset[str], scalars: ScalarFacts
) -> tuple[Diagnostic, ...]:
    """What cannot be kept for the program after the loop though it reads it there."""
    return (*_deleted(context, live, scalars), *_worthless(context, live))


def with_finalized(context: AnalysisContext, live: Live) -> Live:
    """The live names; all where the file has finalizers, which run when values are given up."""
    finalized = "__del__" in context.module.methods
    return live | (context.names.temporaries - _deletions(context).keys() if finalized else frozenset())


def _deletions(context: AnalysisContext) -> dict[str, Node]:
    return {u.name: u.node for s in context.body for u in uses_of(s) if u.kind is UseKind.DELETE}


def _deleted(context: AnalysisContext, live: frozenset[str], scalars: ScalarFacts) -> Iterator[Diagnostic]:
    """Temporaries that an iteration may leave deleted: the plan cannot keep them unbound after the loop."""
    deleted = _deletions(context)
    for name in sorted((deleted.keys() & live) - scalars.definite):
        yield report("DLB421", context.place_of(deleted[name]), name=name)


def _worthless(context: AnalysisContext, live: frozenset[str]) -> Iterator[Diagnostic]:
    """Temporaries that a clause declares private, and that the program reads after the loop."""
    for clause in context.loop.annotation.private:
        for name in sorted(live.intersection(clause.names)):
            yield report("DLB426", clause.place, name=name)
