"""Derive the work W(i) of one iteration, as a function of index and parameters, and read the clause `cost`.

The derivation counts what an iteration executes. Inner loops over ranges are summed in closed form. A branch
whose condition depends on index, inner variables and parameters is counted where it is taken; any other
branch counts by its mean and its worst case. Functions of the module are entered with their arguments. What
depends on data (``while``, recursion, an unknown function) leaves the work unknown, and `Cost.why` says why.

The expression of a clause is evaluated before the loop, at the place of the loop. It sees the loop's targets
and the names bound around it, but neither names that the body binds nor elements that the loop stores to. The
sequential program does not evaluate it, so its evaluation must have no effect but its value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from math import inf

from dlbrt.contract import nearest
from dlbrt.records import dataclass

from dlbc.algebra.bounds import NO_ASSUMPTIONS
from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import IntegerForm, Variable, VariableKind
from dlbc.algebra.iteration_cost import Cost, index_range
from dlbc.algebra.work import NoClosedFormError
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.names import BUILTINS, is_known, names_around
from dlbc.analysis.subscripts import SubscriptReader
from dlbc.analysis.uses import bound_names, own_nodes, parameters_of, uses_of
from dlbc.cost.clause import contents_read, effects_of, takes_vector, valueless_parts, work_of
from dlbc.cost.count_code import CodeCounter
from dlbc.cost.count_expressions import CounterContext
from dlbc.cost.estimate import UncountableError
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.annotation import CostClause, CostForm
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import CostPlan, CostShape, target_text
from dlbc.ir.region import CodeRegion, LoopNames, ModuleNames
from dlbc.library.row import EffectKind
from dlbc.library.table import lookup

#: Names whose value depends on the place of the call, which is another one in the kernel.
_BY_PLACE = frozenset({"__class__", "super", "globals", "locals", "vars", "eval", "exec", "dir"})

_WANTED = {
    CostForm.DENSITY: "work above 0 for an iteration",
    CostForm.CUMULATIVE: "work that increases with the loop's variable",
    CostForm.FIT: "pairs of a value of the loop's variable and a time",
}


def infer_cost(loop: AnnotatedLoop, names: LoopNames, module: ModuleNames, space: IndexSpace | None) -> Cost:
    """The cost of one iteration of the loop.

    Where no variable counts (``space`` is None), the cost is known if it is the same in every iteration.
    """
    index = Variable(VariableKind.INDEX, names.index or next(iter(names.targets), "_"))
    given = NO_ASSUMPTIONS if space is None else index_range(space)
    body = tuple(loop.node.body)
    counted = frozenset(_counted([loop.node.iter, *body]))
    region = CodeRegion(
        body, names.temporaries, module, names.index, integers=names.integers, range_arguments=counted
    )
    shared = CounterContext(_written(body), _local(loop, names))
    try:
        price = CodeCounter(region, shared, given).block(body)
        work = price.mean.simplified(given)
        worst = work if price.is_exact else price.worst.simplified(given)
    except (UncountableError, NoClosedFormError) as reason:
        return Cost(index, None, why=str(reason))
    return Cost(index, work, worst, notes=tuple(dict.fromkeys(shared.notes)))


def _counted(roots: Sequence[ast.AST]) -> Iterator[str]:
    """Names in the arguments of a `range`, which accepts integers only."""
    for node in own_nodes(roots):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            yield from (use.name for use in uses_of(node))


def _written(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names and dotted names whose elements the body stores to, or whose length it changes."""
    found = set()
    for node in own_nodes(body):
        match node:
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                while isinstance(value, ast.Subscript):
                    value = value.value
                found.add(ast.unparse(value))
            case ast.Call(func=ast.Attribute(value=value, attr=method)):
                if lookup(f".{method}").effect in (EffectKind.MUTATE, EffectKind.ORDERED):
                    found |= {ast.unparse(value), f"len({ast.unparse(value)})"}
    return frozenset(found)


def _local(loop: AnnotatedLoop, names: LoopNames) -> frozenset[str]:
    """Names that may have another meaning in functions of the module than in the loop."""
    functions = [n for n in loop.path if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    own = {name for f in functions for name in (*bound_names(f.body), *(p.arg for p in parameters_of(f)))}
    return names.temporaries | own


@dataclass(frozen=True)
class ClauseCost:
    """A `cost` clause: as the call has it, and as work where it can be read as such."""

    plan: CostPlan
    cost: Cost | None


def read_cost(
    context: AnalysisContext, stored: frozenset[str], growing: frozenset[str]
) -> tuple[ClauseCost | None, tuple[Diagnostic, ...]]:
    """The clause of a loop, and what is wrong with it.

    ``stored`` are the arrays that the loop stores into, ``growing`` the containers that it adds to.
    """
    clause = context.loop.annotation.cost
    if clause is None:
        return None, ()
    reader = _Reader(context, context.names, clause, ast.parse(clause.expression, mode="eval").body)
    findings = tuple(dict.fromkeys(reader.findings(stored, growing)))
    findings = tuple(sorted(findings, key=lambda found: (found.code, found.message)))
    return (None, findings) if findings else (reader.given(), ())


@dataclass(frozen=True)
class _Reader:
    context: AnalysisContext
    names: LoopNames
    clause: CostClause
    node: ast.expr

    def findings(self, stored: frozenset[str], growing: frozenset[str]) -> Iterator[Diagnostic]:
        place, form = self.clause.place, self.clause.form
        if misplaced := tuple(self._misplaced()):
            yield from (report("DLB125", place, what=what) for what in misplaced)
            return
        if form is not CostForm.DENSITY and not self.names.counter_in_range:
            found = ast.unparse(self.context.loop.node.iter)
            yield report("DLB121", place, clause=self.clause.written, found=_shortened(found))
        yield from self._unknown()
        for name, does in (*self._bound(), *self._changed(stored, growing)):
            yield report("DLB123", place, name=name, does=does)
        for side_effect in effects_of(self.node, self.context):
            yield report("DLB127", place, side_effect=side_effect)
        for part, reason in valueless_parts(self.node, self.context.module):
            yield report("DLB131", place, part=_shortened(part), reason=reason)
        if self._senseless():
            yield report("DLB124", place, wanted=_WANTED[form], found=_shortened(self.clause.expression))

    def _misplaced(self) -> Iterator[str]:
        for node in ast.walk(self.node):
            match node:
                case ast.NamedExpr():
                    yield "`:=`"
                case ast.Await():
                    yield "`await`"
                case ast.Yield() | ast.YieldFrom():
                    yield "`yield`"
                case ast.comprehension(is_async=1):
                    yield "`async for`"
                case ast.Name(id=name) if name in _BY_PLACE and self.context.module.builtin(name):
                    yield f"`{name}`"

    def _unknown(self) -> Iterator[Diagnostic]:
        for name in self._read - self.names.temporaries:
            loop, module = self.context.loop, self.context.module
            if not is_known(name, loop, module):
                known = {*names_around(loop, module), *self.names.targets, *BUILTINS}
                yield report("DLB122", self.clause.place, name=name, hint=nearest(name, known))

    def _bound(self) -> Iterator[tuple[str, str]]:
        """Names that get their value in the loop."""
        targets = () if self.clause.form is CostForm.FIT else self.names.targets
        yield from ((name, "binds it") for name in self._read & self.names.temporaries if name not in targets)

    def _changed(self, stored: frozenset[str], growing: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Arrays and containers whose elements the loop changes."""
        yield from ((name, "adds to it") for name in self._read & growing)
        for text in contents_read(self.node, self.context.module):
            array = next((s for s in sorted(stored - growing) if text == s or text.startswith(f"{s}.")), None)
            if array is not None and text.partition(".")[0] in self._read - self.names.temporaries:
                yield array, "stores into it"

    @property
    def _read(self) -> frozenset[str]:
        return frozenset(use.name for use in uses_of(self.node))

    def _senseless(self) -> bool:
        """Whether the text shows that the value cannot be work."""
        literal = isinstance(self.node, ast.Constant | ast.JoinedStr)
        if self.clause.form is CostForm.FIT:
            return literal
        if self.clause.form is CostForm.CUMULATIVE:
            return literal or not self._targets_read()
        value = getattr(self.node, "value", None) if literal else 1
        if type(value) is int or type(value) is float:
            work = work_of(self.node, self._form)
            known = None if work is None else work.constant
            return value == inf or (known is not None and known <= 0)
        return True

    def given(self) -> ClauseCost:
        """The clause as it is emitted, and its work where that can be read off."""
        return ClauseCost(CostPlan(*self._shape(), self.clause.expression), self._cost())

    def _shape(self) -> tuple[CostShape, str]:
        index = self.names.counter
        if self.clause.form is CostForm.FIT:
            return CostShape.FIT, ""
        if self.clause.form is CostForm.CUMULATIVE:
            return CostShape.CUMULATIVE, index or ""
        alone = index is not None and self._targets_read() <= {index}
        if index is not None and alone and takes_vector(self.node, index, self.context.module):
            return CostShape.VECTOR, index
        return CostShape.EACH, target_text(self.context.loop.node.target)

    def _targets_read(self) -> frozenset[str]:
        return self._read & {*self.names.targets}

    def _cost(self) -> Cost | None:
        """The work of one iteration by the clause."""
        if self.clause.form is not CostForm.DENSITY:
            return None
        work = work_of(self.node, self._form)
        index = Variable(VariableKind.INDEX, self.names.counter or next(iter(self.names.targets), "_"))
        return None if work is None else Cost(index, work)

    def _form(self, node: ast.expr) -> IntegerForm | None:
        counter = self.names.counter
        forms = {} if counter is None else {counter: IntegerForm.of(Variable(VariableKind.INDEX, counter))}
        region = CodeRegion((), self.names.temporaries, self.context.module, integers=self.names.integers)
        return SubscriptReader(region).form(node, forms, {})


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
