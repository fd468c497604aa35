"""Classify the names that the body binds: temporaries proper, and those that carry a value on.

Theory: definite assignment, a forward data-flow analysis whose facts are the names bound on every path
(meet is intersection). A read of a name that the same iteration may not have bound sees the iteration
before, or the value from before the loop: the iterations are not independent.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set

from dlbc.analysis.effects import FunctionSummary
from dlbc.analysis.enclosing_statements import propagates_exceptions
from dlbc.analysis.uses import ScalarFacts, Use, UseKind, every_node, uses_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.access import OriginKind, RegionFacts
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import LoopNames
from dlbc.source import Source

State = frozenset[str] | None  # None: not reached


def classify_scalars(body: Iterable[ast.stmt], names: LoopNames) -> ScalarFacts:
    """Flow through one iteration, the targets bound at its start."""
    flow = _Flow(names.temporaries)
    continues: list[State] = []
    flow.loops.append(([], continues))
    end = flow.block(body, frozenset(names.targets))
    for state in continues:
        end = _meet(end, state)
    carried = {(u.name, id(u.node)): u for u in flow.exposed}
    return ScalarFacts(end if end is not None else names.temporaries, tuple(carried.values()))


def _meet(left: State, right: State) -> State:
    if left is None or right is None:
        return right if left is None else left
    return left & right


def _deleted(nodes: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(u.name for n in nodes for u in uses_of(n) if u.kind is UseKind.DELETE)


class _Flow:
    def __init__(self, own: frozenset[str]) -> None:
        self._own = own
        self.exposed: list[Use] = []
        self.loops: list[tuple[list[State], list[State]]] = []

    def block(self, statements: Iterable[ast.stmt], state: State) -> State:
        """The state after ``statements``."""
        for statement in statements:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _uses(self, node: ast.AST | None, state: frozenset[str]) -> frozenset[str]:
        for use in uses_of(node):
            if use.name not in self._own:
                continue
            if use.kind is not UseKind.STORE and use.name not in state:
                self.exposed.append(use)
            if use.kind is UseKind.STORE and use.sure:
                state |= {use.name}
            elif use.kind is UseKind.DELETE:
                state -= {use.name}
        return state

    def _statement(self, node: ast.stmt, state: frozenset[str]) -> State:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                state = self._uses(test, state)
                return _meet(self.block(body, state), self.block(orelse, state))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, state)
            case ast.Try() | ast.TryStar():
                return self._try(node, state)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    state = self._uses(item, state)
                end = self.block(node.body, state)
                plain = all(propagates_exceptions(item.context_expr) for item in node.items)
                return end if plain else _meet(end, state - _deleted(node.body))
            case ast.Match():
                return self._match(node, state)
            case ast.Return() | ast.Raise():
                self._uses(node, state)
                return None
            case ast.Break() | ast.Continue():
                self.loops[-1][isinstance(node, ast.Continue)].append(state)
                return None
        return self._uses(node, state)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: frozenset[str]) -> State:
        breaks: list[State] = []
        if isinstance(node, ast.While):
            state = self._uses(node.test, state - _deleted(node.body))
            inside = state
        else:
            state = self._uses(node.iter, state) - _deleted(node.body)
            inside = self._uses(node.target, state)
        self.loops.append((breaks, []))
        self.block(node.body, inside)
        self.loops.pop()
        endless = (
            isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        )
        end = None if endless else self.block(node.orelse, state)
        for broken in breaks:
            end = _meet(end, broken)
        return end

    def _try(self, node: ast.Try | ast.TryStar, state: frozenset[str]) -> State:
        thrown = state - _deleted(node.body)
        jumps = [len(kind) for kind in self.loops[-1]]
        end = self.block([*node.body, *node.orelse], state)
        for handler in node.handlers:
            caught = self._uses(handler.type, thrown)
            after = self.block(handler.body, caught | ({handler.name} if handler.name else set()))
            end = _meet(end, after if after is None or not handler.name else after - {handler.name})
        if node.finalbody:
            self.block(node.finalbody, thrown - _deleted(n for h in node.handlers for n in h.body))
            lost = _deleted(node.finalbody)
            for kind, known in zip(self.loops[-1], jumps, strict=True):
                kind[known:] = [None if s is None else s - lost for s in kind[known:]]
            end = self.block(node.finalbody, end)
        return end

    def _match(self, node: ast.Match, state: frozenset[str]) -> State:
        state = self._uses(node.subject, state)
        end: State = None
        for case in node.cases:
            inside = self._uses(case.guard, self._uses(case.pattern, state))
            end = _meet(end, self.block(case.body, inside))
        last = node.cases[-1]
        complete = (
            last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        )
        return end if complete else _meet(end, state)


# ------------------------------------------------------------------------------
# Check the names that the body binds: none may carry a value from one iteration to another.


def check_scalars(
    scalars: ScalarFacts,
    facts: RegionFacts,
    functions: Sequence[FunctionSummary],
    loop: AnnotatedLoop,
    names: LoopNames,
    source: Source,
    settled: Set[str] = frozenset(),
) -> Iterator[Diagnostic]:
    """Carried values, values seen by functions behind the back.

    ``settled``: carried names that are reductions, or of which it was said why they are none.
    """
    reported: set[str] = set(settled)
    for use in scalars.carried:
        if use.name in reported:
            continue
        reported.add(use.name)
        note = RelatedPlace(source.place_of(_binding(use.name, loop.node.body, use.node)), "bound here")
        yield report("DLB310", source.place_of(use.node), "read here", (note,), name=use.name)
    for function in functions:
        for name, node in function.reads.items():
            if name in names.temporaries and _sees(function.node, loop):
                note = RelatedPlace(source.place_of(loop.node), "in this loop")
                yield report(
                    "DLB313", source.place_of(node), "read here", (note,), name=name, function=function.name
                )
    for value, node in facts.escapes:
        if any(o.kind is OriginKind.CLOSURE for o in value.points_to | value.reachable):
            yield report("DLB314", source.place_of(node))


def _sees(function: ast.AST, loop: AnnotatedLoop) -> bool:
    """Whether the function's free names may mean the loop's: it stands in the same scope, not in the loop."""
    inside = any(n is function for n in every_node(loop.node))
    return not inside and any(n is function for n in every_node(loop.scope))


def _binding(name: str, body: Sequence[ast.stmt], default: ast.expr | ast.stmt | ast.excepthandler):  # type: ignore[no-untyped-def]
    for statement in body:
        for use in uses_of(statement):
            if use.name == name and use.kind is not UseKind.LOAD:
                return use.node
    return default
