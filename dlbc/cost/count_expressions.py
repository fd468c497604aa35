"""Count what expressions execute: operations on numbers, operations on arrays by their size, comprehensions.

A part under a condition on index, inner variables and parameters counts where the condition holds. Where data
decides between two parts, the cost is their mean on average, and the greater one at most.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from fractions import Fraction

from dlbrt.records import dataclass

from dlbc.algebra.bounds import NO_ASSUMPTIONS, Assumptions, maximum, normal_form
from dlbc.algebra.integer_form import ZERO, Condition, IntegerForm, Junction, Variable
from dlbc.algebra.sums import sum_over, trip_count
from dlbc.algebra.work import ONE_WORK, NoClosedFormError, WorkPolynomial, indicator_of
from dlbc.analysis.control_flow import ControlFlow
from dlbc.analysis.names import full_name
from dlbc.analysis.uses import bound_names, own_nodes, root_name, unparsed
from dlbc.cost.estimate import (
    ELEMENT,
    NO_COST,
    OPERATION,
    START,
    UNIT_COST,
    CostEstimate,
    UncountableError,
    total_of,
    upper_bound,
)
from dlbc.cost.shapes import Shape, ShapeInference, ShapeInputs
from dlbc.ir.region import CodeRegion

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True)
class TripRange:
    """The trip count of a loop, and the values of its variable if they matter."""

    variable: Variable | None
    start: IntegerForm
    stop: IntegerForm
    step: IntegerForm
    count: IntegerForm


@dataclass
class CounterContext:
    """What all counters of one loop share."""

    written: frozenset[str]
    local: frozenset[str]
    notes: list[str] = field(default_factory=list)
    numbers: dict[ast.AST, int] = field(default_factory=dict)


class ExpressionCounter(ControlFlow, ABC):
    """Costs of the expressions of one region."""

    def __init__(
        self, region: CodeRegion, shared: CounterContext, whole: Callable[[str], bool] | None = None
    ) -> None:
        super().__init__(region)
        self.context = shared
        self._numbers = shared.numbers
        self._assumptions = NO_ASSUMPTIONS
        inputs = ShapeInputs(self._full, self._inline, whole, depths=_depths(region.body))
        self._sizes = ShapeInference(region, inputs)
        self._subscripts = self._sizes

    @abstractmethod
    def _assign(self, target: ast.expr, source: ast.expr | None) -> CostEstimate:
        """Bind or store to a target."""

    @abstractmethod
    def _call(self, node: ast.Call) -> CostEstimate:
        """What a call costs, including its arguments."""

    @abstractmethod
    def _inline(self, node: ast.Call) -> IntegerForm | None:
        """The integer that a function of the module returns."""

    def _condition(self, test: ast.expr) -> Condition | None:
        """The test as a condition on integers that do not change within the iteration."""
        condition = self._subscripts.condition(test, self._forms, self._hidden)
        usable = condition is not None and all(map(self._usable, _every_form(condition)))
        return condition if usable else None

    @contextmanager
    def _assuming(self, condition: Condition | None = None) -> Iterator[None]:
        """The condition holds inside; all assumptions made inside end there."""
        before = self._assumptions
        if condition is not None:
            self._assumptions = before.extended(*forms_of(condition))
        yield
        self._assumptions = before

    def _span(self, target: ast.expr, iterable: ast.expr, node: ast.AST) -> TripRange:
        """The trip range of the loop ``node`` over an iterable."""
        binder = self._binder(node, target, iterable)
        if binder is not None and binder.start is not None and binder.stop is not None:
            step = self._step(iterable) if binder.step is None else IntegerForm.literal(binder.step)
            ends = [self._normal(form) for form in (binder.start, binder.stop, step or ZERO)]
            usable = all(map(self._usable, ends))
            count = trip_count(ends[0], ends[1], ends[2], self._assumptions) if usable else None
            if count is not None:
                return TripRange(binder.variable, ends[0], ends[1], ends[2], count)
        length = self._sizes.length(iterable, self._forms, self._hidden)
        if length is None or not self._usable(length):
            what = f"the loop on line {iterable.lineno} over `{unparsed(iterable)}`"
            raise UncountableError(f"how often {what} turns is not known")
        if any(isinstance(part, ast.Slice) for part in ast.walk(iterable)):
            self._note(iterable, "slices are taken to lie within what they are of")
        variable = None if binder is None else binder.variable
        count = maximum([self._normal(length), ZERO], self._assumptions)
        return TripRange(variable, ZERO, length, IntegerForm.literal(1), count)

    def _step(self, iterable: ast.expr) -> IntegerForm | None:
        """The step of a `range` if it is not a literal."""
        match iterable:
            case ast.Call(func=ast.Name(id="range"), args=[_, _, step]):
                return self._as_form(step)
        return None

    def _normal(self, form: IntegerForm) -> IntegerForm:
        return normal_form(form, self._assumptions)

    def _usable(self, form: IntegerForm) -> bool:
        """Whether its value is the same at any time within the iteration."""
        names = form.elements | {v.name for v in form.variables}
        return not names & self.context.written and not any(v.out_of_scope for v in form.variables)

    def _bind(self, target: ast.expr, span: TripRange) -> None:
        """Bind the target at the head of an iteration."""
        self._assign(target, None)
        if span.variable is not None:
            here, one = IntegerForm.of(span.variable), IntegerForm.literal(1)
            self._define(span.variable.name, here)
            low, high = span.start, span.stop
            if not self._assumptions.proves(span.step):
                low, high = span.stop + one, span.start + one
            self._assumptions = self._assumptions.extended(here - low, high - here - one)

    def _repeated(self, price: CostEstimate, span: TripRange, node: ast.AST) -> CostEstimate:
        mean = self._added(price.mean, span, node)
        return CostEstimate(mean, mean if price.is_exact else self._added(price.worst, span, node))

    def _added(self, work: WorkPolynomial, span: TripRange, node: ast.AST) -> WorkPolynomial:
        if span.variable is None or span.variable not in work.variables:
            return work * WorkPolynomial.from_form(span.count)
        try:
            return sum_over(work, span.variable, span.start, span.step, span.count, self._assumptions)
        except NoClosedFormError as reason:
            line = getattr(node, "lineno", 0)
            raise UncountableError(f"the loop on line {line} has no closed form: {reason}") from None

    def _choice(self, node: ast.AST, prices: Sequence[CostEstimate]) -> CostEstimate:
        """One of several parts; data decides which."""
        if all(price == prices[0] for price in prices):
            return prices[0]
        self._note(node, "branches that data decides are taken to be equally likely")
        mean = WorkPolynomial.total(price.mean for price in prices) * Fraction(1, len(prices))
        worst = prices[0].worst
        for price in prices[1:]:
            worst = upper_bound(worst, price.worst)
        return CostEstimate(mean, worst)

    def _expression(self, node: ast.expr | None) -> CostEstimate:
        match node:
            case None | ast.Name() | ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return NO_COST
            case ast.BinOp(left=left, op=op, right=right):
                product = isinstance(op, ast.MatMult)
                operation = self._product(left, right) if product else self._operation(node)
                return self._expression(left) + self._expression(right) + operation
            case ast.UnaryOp(operand=operand):
                return self._expression(operand) + self._operation(node)
            case ast.Compare(left=left, comparators=others):
                parts = total_of(map(self._expression, [left, *others]))
                return parts + self._operation(node).times(*[WorkPolynomial.literal(len(others))] * 2)
            case ast.BoolOp(values=values):
                operators = CostEstimate.of(OPERATION * (len(values) - 1))
                return total_of([*map(self._expression, values), operators])
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._expression(test) + self._chosen(node, test, body, other)
            case ast.Subscript(value=value, slice=inside):
                within = inside.elts if isinstance(inside, ast.Tuple) else [inside]
                return total_of([*map(self._expression, within), self._expression(value), UNIT_COST])
            case ast.Call():
                return self._call(node)
            case ast.NamedExpr(target=target, value=value):
                return self._expression(value) + self._assign(target, value)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case ast.Lambda():
                return UNIT_COST
            case ast.Slice() | ast.Starred() | ast.FormattedValue():
                return self._parts(node)
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                raise UncountableError(f"what line {node.lineno} waits for is not known")
        return self._parts(node) + UNIT_COST

    def _parts(self, node: ast.expr) -> CostEstimate:
        parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        return total_of(map(self._expression, parts))

    def _chosen(self, node: ast.expr, test: ast.expr, body: ast.expr, other: ast.expr) -> CostEstimate:
        condition = self._condition(test)
        taken, left = self._expression(body), self._expression(other)
        if condition is None or taken == left:
            return self._choice(node, [taken, left])
        yes = indicator_of(condition)
        return taken.times(yes, yes) + left.times(ONE_WORK - yes, ONE_WORK - yes)

    def _operation(self, node: ast.expr) -> CostEstimate:
        """An operation on numbers, or on arrays element by element."""
        shape = self._shape(node)
        return UNIT_COST if shape is None else self._started(shape)

    def _product(self, left: ast.expr, right: ast.expr) -> CostEstimate:
        shapes = [self._array(part) for part in (left, right)]
        known = [shape for shape in shapes if shape is not None]
        if not known:
            self._note(left, "arrays of unknown size count as one element")
            return CostEstimate.of(START)
        rows, columns = known[0], known[-1] if len(known) > 1 else ()
        further = columns[:-2] + columns[-1:] if len(columns) > 1 else ()
        return self._started((*rows, *further, IntegerForm.literal(2)))

    def _started(self, shape: Sequence[IntegerForm]) -> CostEstimate:
        return CostEstimate.of(START) + self._sized(shape)

    def _sized(self, shape: Sequence[IntegerForm]) -> CostEstimate:
        self.context.notes.append("operations on arrays are weighed by the number of elements")
        work = WorkPolynomial.literal(ELEMENT)
        for length in shape:
            if not self._usable(length):
                raise UncountableError(f"the size {length} is not known before the iteration")
            work = work * WorkPolynomial.from_form(self._normal(length))
        return CostEstimate.of(work)

    def _array(self, node: ast.expr, least: int = 1) -> Shape:
        """The shape of an array that surely has this number of axes."""
        return self._sizes.array(node, self._forms, self._hidden, least)

    def _shape(self, node: ast.expr) -> Shape:
        return self._sizes.shape(node, self._forms, self._hidden)

    def _comprehension(self, node: Comprehension) -> CostEstimate:
        before = self._forms, self._steady, self._domain, self._assumptions, dict(self._sizes.inputs.shapes)
        own = bound_names([g.target for g in node.generators])
        hidden, self._hidden = self._hidden, self._hidden | dict.fromkeys(own, False)
        price = self._generated(node, list(node.generators))
        self._forms, self._steady, self._domain, self._assumptions, self._sizes.inputs.shapes = before
        self._hidden = hidden
        return price + UNIT_COST

    def _generated(self, node: Comprehension, rest: list[ast.comprehension]) -> CostEstimate:
        if not rest:
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return total_of(map(self._expression, parts))
        generator, *others = rest
        price = self._expression(generator.iter)
        span = self._span(generator.target, generator.iter, generator)
        with self._assuming():
            self._bind(generator.target, span)
            inner = self._filtered(node, list(generator.ifs), others) + UNIT_COST
        return price + self._repeated(inner, span, node)

    def _filtered(
        self, node: Comprehension, tests: list[ast.expr], others: list[ast.comprehension]
    ) -> CostEstimate:
        if not tests:
            return self._generated(node, others)
        condition, price = self._condition(tests[0]), self._expression(tests[0])
        inner = self._filtered(node, tests[1:], others)
        if condition is None:
            return price + self._choice(node, [inner, NO_COST])
        yes = indicator_of(condition)
        return price + inner.times(yes, yes)

    def _full(self, node: ast.expr) -> str:
        """The dotted name of a builtin function or a function of another package; empty for any other."""
        root = root_name(node)
        local = root in self._hidden or root in self._region.own
        return "" if local else full_name(node, self._region.module)

    def _note(self, node: ast.AST, text: str) -> None:
        self.context.notes.append(f"line {getattr(node, 'lineno', 0)}: {text}")


def forms_of(condition: Condition) -> tuple[IntegerForm, ...]:
    """A condition as forms that are at least 0."""
    return Assumptions.of([condition]).forms


def _every_form(condition: Condition) -> Iterator[IntegerForm]:
    if isinstance(condition, Junction):
        for part in condition.parts:
            yield from _every_form(part)
    else:
        yield condition.form


def _depths(body: Sequence[ast.stmt]) -> dict[str, int]:
    """The number of subscripts in one bracket by which each name is indexed; `len` counts as one."""
    depths: dict[str, int] = {}
    for node in own_nodes(body):
        match node:
            case ast.Subscript(value=array, slice=inside) if root_name(array):
                depth = len(inside.elts) if isinstance(inside, ast.Tuple) else 1
            case ast.Call(func=ast.Name(id="len"), args=[array]) if root_name(array):
                depth = 1
            case _:
                continue
        name = unparsed(array)
        depths[name] = max(depths.get(name, 0), depth)
    return depths
