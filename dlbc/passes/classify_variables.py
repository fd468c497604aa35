"""Classify every variable of a loop: the class says how its value reaches the ranks, and comes back.

Law: each name that the body binds, or takes from before the loop, has exactly one class. A name that fits
none is refused, whatever the other passes found: it could not get the value that the sequential program gives
it. Functions, classes and imports that the module binds once are no variables.

Theory of `classify_scalars`: definite assignment, a forward data-flow analysis whose facts are the names
bound on every path (meet is intersection). A read of a name that the same iteration may not have bound sees
the value of the iteration before, or of before the loop: the iterations are not independent.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from dlbrt.contract import Distribution
from dlbrt.records import dataclass

from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import IntegerForm, Variable
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.enclosing_statements import propagates_exceptions
from dlbc.analysis.row_footprints import RowRange, rows_of
from dlbc.analysis.uses import ScalarFacts, Use, UseKind, every_node, uses_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import Access
from dlbc.ir.access_path import root_of
from dlbc.ir.loop import AnnotatedLoop, ClassifiedVariable, VariableClass
from dlbc.ir.plan import ArrayPlan, IterationContributions
from dlbc.ir.region import LoopNames

State = frozenset[str] | None  # None: not reached


def classify_scalars(
    body: Iterable[ast.stmt], names: LoopNames, runs: Callable[[ast.expr], bool] = lambda _: False
) -> ScalarFacts:
    """The flow through one iteration, at whose start the targets are bound.

    ``runs`` says of what an inner loop runs over whether it surely has an item.
    """
    flow = _Flow(names.temporaries, runs)
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
    def __init__(self, own: frozenset[str], runs: Callable[[ast.expr], bool]) -> None:
        self._own, self._runs = own, runs
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
        continues: list[State] = []
        if isinstance(node, ast.While):
            state = self._uses(node.test, state - _deleted(node.body))
            inside = state
        else:
            state = self._uses(node.iter, state) - _deleted(node.body)
            inside = self._uses(node.target, state)
        self.loops.append((breaks, continues))
        after = self.block(node.body, inside)
        self.loops.pop()
        if isinstance(node, ast.For) and self._runs(node.iter):
            for state_at_end in continues:
                after = _meet(after, state_at_end)
            end = self.block(node.orelse, after)
        else:
            test = node.test if isinstance(node, ast.While) else None
            endless = isinstance(test, ast.Constant) and bool(test.value)
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
        match node.cases[-1]:
            case ast.match_case(guard=None, pattern=ast.MatchAs(pattern=None)):  # takes everything
                return end
        return _meet(end, state)


def check_scalars(context: AnalysisContext, scalars: ScalarFacts, settled: Set[str]) -> Iterator[Diagnostic]:
    """Values carried from one iteration to another.

    ``settled``: carried names that are reductions, or whose refusal is already reported.
    """
    reported: set[str] = set(settled)
    for use in scalars.carried:
        if use.name in reported:
            continue
        reported.add(use.name)
        note = context.note(_binding(use.name, context.body, use.node), "bound here")
        yield report("DLB310", context.place_of(use.node), "read here", (note,), name=use.name)


def _binding(name: str, body: Sequence[ast.stmt], default: ast.expr | ast.stmt | ast.excepthandler):  # type: ignore[no-untyped-def]
    for statement in body:
        for use in uses_of(statement):
            if use.name == name and use.kind is not UseKind.LOAD:
                return use.node
    return default


def classify_variables(
    context: AnalysisContext,
    scalars: ScalarFacts,
    space: IndexSpace | None,
    accesses: Sequence[Access],
    arrays: Sequence[ArrayPlan],
    contributions: IterationContributions,
    last: frozenset[str],
) -> tuple[tuple[ClassifiedVariable, ...], tuple[Diagnostic, ...]]:
    """The table of variables, in the order of the text, and a diagnostic for each without a class.

    ``accesses``: those of arrays from outside that are not private. ``last``: the names that the loop binds
    and whose values are read after it.
    """
    classes = _Classes(
        context.names,
        frozenset(u.name for u in scalars.carried),
        frozenset(a.root for a in accesses if a.writes and a.array not in {r.name for r in arrays}),
        context.loop.annotation.private_names,
        contributions,
        last,
    )
    table: list[ClassifiedVariable] = []
    unfit: list[Diagnostic] = []
    for name, node in _in_order(context.loop, context.names).items():
        rows = [_array(a, accesses, space) for a in arrays if root_of(a.name) == name]
        table += rows
        if any(row.name == name for row in rows):
            continue
        if (variable := classes.of(name)) is not None:
            table.append(variable)
        else:
            unfit.append(report("DLB327", context.place_of(node), name=name))
    listed = {variable.name for variable in table}
    table += [_array(a, accesses, space) for a in arrays if a.name not in listed]
    in_objects = (classes.of(path.text) for path in contributions.paths)
    table += [variable for variable in in_objects if variable is not None]
    return tuple(table), tuple(unfit)


@dataclass(frozen=True)
class _Classes:
    """The results of the passes as sets of names; ``stored``: arrays stored to that are in no table."""

    names: LoopNames
    carried: frozenset[str]
    stored: frozenset[str]
    private: frozenset[str]
    contributions: IterationContributions
    last: frozenset[str]

    def of(self, name: str) -> ClassifiedVariable | None:
        """The class of a name that is no array of the table."""
        for reduction in self.contributions.reductions:
            if name == reduction.name:
                return ClassifiedVariable(name, VariableClass.REDUCTION, operator=reduction.operator)
            if name in reduction.companions:
                return ClassifiedVariable(name, VariableClass.REDUCTION, companion_of=reduction.name)
        if any(name == ordered.name for ordered in self.contributions.ordered):
            return ClassifiedVariable(name, VariableClass.ORDERED)
        if name in self.names.temporaries:
            return self._temporary(name)
        if name in self.private:
            return ClassifiedVariable(name, VariableClass.PRIVATE)
        return None if name in self.stored else ClassifiedVariable(name, VariableClass.BROADCAST)

    def _temporary(self, name: str) -> ClassifiedVariable | None:
        if name in self.names.targets and name not in self.names.rebound:
            return ClassifiedVariable(name, VariableClass.LOOP, live=name in self.last)
        if name in self.carried:
            return None
        kept = name in self.last and name not in self.private
        return ClassifiedVariable(name, VariableClass.LASTPRIVATE if kept else VariableClass.PRIVATE)


def _in_order(loop: AnnotatedLoop, names: LoopNames) -> dict[str, ast.expr | ast.stmt]:
    """The variables in document order, with their first mention; those that no `Name` mentions come last."""
    variables = names.temporaries | names.shared.keys()
    found = [n for n in every_node(loop.node) if isinstance(n, ast.Name) and n.id in variables]
    first: dict[str, ast.expr | ast.stmt] = {}
    for node in sorted(found, key=lambda n: (n.lineno, n.col_offset)):
        first.setdefault(node.id, node)
    return first | dict.fromkeys(sorted(variables - first.keys()), loop.node)


def _array(array: ArrayPlan, accesses: Sequence[Access], space: IndexSpace | None) -> ClassifiedVariable:
    if array.axis is None or space is None or array.distribution is Distribution.WHOLE:
        return ClassifiedVariable(array.name, VariableClass.BROADCAST, whole_array=True)
    axis = array.axis
    own = [a for a in accesses if a.array == array.name]
    reached = [(a.writes, rows) for a in own if (rows := rows_of(a, axis)) is not None]
    below, above = _halo(reached, space)
    fixed = tuple(dict.fromkeys(rows.text for _, rows in reached if not rows.depends_on_index))
    return ClassifiedVariable(array.name, VariableClass.DISTRIBUTED, axis, below, above, fixed)


def _halo(reached: Sequence[tuple[bool, RowRange]], space: IndexSpace) -> tuple[int, int]:
    """The rows that an iteration touches below and above its own, where an index step is one row."""
    extents = [(writes, *extent) for writes, rows in reached for extent in _extent(rows, space.index)]
    if not extents or space.step is None or abs(space.step) != 1:
        return 0, 0
    stored = [low for writes, low, _ in extents if writes]
    lows, highs = [low for _, low, _ in extents], [high for _, _, high in extents]
    own = min(stored) if stored else 0 if min(lows) <= 0 <= max(highs) else min(lows)
    return max(0, own - min(lows)), max(0, max(highs) - (max(stored) if stored else own))


def _extent(rows: RowRange, index: Variable) -> Iterator[tuple[int, int]]:
    """The distance of the first and the last row from the index, if the rows follow it with slope 1 or -1."""
    width = rows.width
    for slope in (1, -1):
        if width and rows.low.coefficient(index) == slope:
            distance = (rows.low - IntegerForm.of(index) * IntegerForm.literal(slope)).constant
            if distance is not None:
                yield distance, distance + width - 1
