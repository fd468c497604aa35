"""Count what statements execute: loops in closed form, branches where they are taken.

Statements after a jump count as often as they are reached; a jump that data decides has probability 1/2.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from dlbc.algebra.bounds import Assumptions, normal_form
from dlbc.algebra.integer_form import IntegerForm, negated
from dlbc.algebra.work import ONE_WORK, ZERO_WORK, WorkPolynomial, indicator_of
from dlbc.analysis.control_flow import jumps_out
from dlbc.analysis.uses import bound_names, free_names, parameters_of
from dlbc.cost.count_calls import CallCounter
from dlbc.cost.count_expressions import CounterContext, forms_of
from dlbc.cost.estimate import NO_COST, UNIT_COST, CostEstimate, UncountableError, total_of
from dlbc.cost.shapes import Shape
from dlbc.ir.region import CodeRegion, FunctionNode

_HALF = WorkPolynomial.literal(Fraction(1, 2))


class CodeCounter(CallCounter):
    """Counts the operations of one region: the loop's body, or a function called in it."""

    def __init__(
        self,
        region: CodeRegion,
        shared: CounterContext,
        given: Assumptions,
        within: tuple[FunctionNode, ...] = (),
        whole: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__(region, shared, whole)
        self._assumptions = given
        self._within = within
        self._returned: list[Shape] = []
        if within:
            self._hidden = dict.fromkeys(shared.local & free_names(within[-1]).keys(), False)

    def _callee(self, function: FunctionNode, arguments: dict[str, ast.expr]) -> CodeCounter:
        body = () if isinstance(function, ast.Lambda) else tuple(function.body)
        own = frozenset(bound_names(body)) | {p.arg for p in parameters_of(function)}
        region = CodeRegion(body, own, self._region.module, parameters=own)
        within = (*self._within, function)
        callee = CodeCounter(region, self.context, self._assumptions, within, self._subscripts.is_whole)
        forms = {name: self._as_form(argument) for name, argument in arguments.items()}
        depths = callee._sizes.inputs.depths
        shapes = {n: self._array(a, depths.get(n, 0)) for n, a in arguments.items()}
        callee._start({name: self._normal(form) for name, form in forms.items() if form is not None}, shapes)
        return callee

    def _start(self, forms: Mapping[str, IntegerForm], shapes: Mapping[str, Shape]) -> None:
        """Set what parameters hold at the head of a function."""
        self._forms = {**self._forms, **forms}
        self._sizes.inputs.shapes.update(shapes)

    @property
    def result(self) -> Shape:
        """The shape of the function's result, if all of its results have the same shape."""
        shapes = set(self._returned)
        return shapes.pop() if len(shapes) == 1 else None

    def block(self, statements: Iterable[ast.stmt]) -> CostEstimate:
        """The cost of statements in sequence; after a jump that may be taken, statements count less."""
        total, mean, worst = NO_COST, ONE_WORK, ONE_WORK
        for statement in statements:
            total += self._statement(statement).times(mean, worst)
            reached = self._reaching_next(statement).times(mean, worst)
            mean, worst = reached.mean, reached.worst
            self._passed(statement)
        return total

    def _reaching_next(self, statement: ast.stmt) -> CostEstimate:
        """The share of executions that reach the next statement."""
        match statement:
            case ast.Continue() | ast.Break() | ast.Return() | ast.Raise():
                return NO_COST
            case ast.If(test=test, body=body, orelse=[]) if _always_jumps(body):
                condition = self._condition(test)
                if condition is not None:
                    self._assumptions = self._assumptions.extended(*forms_of(negated(condition)))
                    return CostEstimate.of(ONE_WORK - indicator_of(condition))
        if not jumps_out(statement) or isinstance(statement, ast.Assert):
            return CostEstimate.of(1)
        self._note(statement, "a jump that data decides is taken to be as likely as not")
        return CostEstimate(_HALF, ONE_WORK)

    def _statement(self, node: ast.stmt) -> CostEstimate:
        match node:
            case ast.Expr(value=value):
                return self._expression(value)
            case ast.Return(value=value):
                self._returned.append(None if value is None else self._shape(value))
                return self._expression(value)
            case ast.Assign(targets=targets, value=value):
                price = self._expression(value)
                for target in targets:
                    price += self._assign(target, value)
                return price
            case ast.AnnAssign(target=target, value=value):
                return NO_COST if value is None else self._expression(value) + self._assign(target, value)
            case ast.AugAssign():
                return self._augmented(node)
            case ast.For():
                return self._for(node)
            case ast.If():
                return self._if(node)
            case ast.With(items=items, body=body):
                managers = [self._expression(item.context_expr) + UNIT_COST for item in items]
                return total_of(managers) + self.block(body)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.Assert(test=test):
                return self._expression(test)
            case ast.Delete(targets=targets):
                return total_of(map(self._expression, targets))
            case ast.Raise() | ast.Pass() | ast.Break() | ast.Continue() | ast.Global() | ast.Nonlocal():
                return NO_COST
            case ast.FunctionDef() | ast.Import() | ast.ImportFrom() | ast.ClassDef():
                return UNIT_COST
            case ast.Match(subject=subject, cases=cases):
                return self._expression(subject) + self._either(node, [c.body for c in cases])
            case ast.While():
                raise UncountableError(
                    f"how often the `while` on line {node.lineno} turns is not known before it runs"
                )
        raise UncountableError(f"what line {node.lineno} costs is not known")

    def _assign(self, target: ast.expr, source: ast.expr | None) -> CostEstimate:
        match target:
            case ast.Name(id=name):
                form = None if source is None else self._as_form(source)
                shape = None if source is None else self._shape(source)
                self._define(name, None if form is None else normal_form(form))
                self._sizes.inputs.shapes[name] = shape
                return NO_COST
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                sources = self._apart(source, len(parts))
                return total_of((self._assign(p, s) for p, s in zip(parts, sources, strict=True)))
            case ast.Starred(value=inner):
                return self._assign(inner, None)
        return self._expression(target) + self._filled(self._shape(target))

    def _apart(self, source: ast.expr | None, count: int) -> Sequence[ast.expr | None]:
        """The sources of the targets of one assignment; for ``n, m = A.shape``, the lengths."""
        match source:
            case ast.Tuple(elts=parts) if len(parts) == count:
                return parts
            case ast.Attribute(attr="shape"):
                return [ast.Subscript(source, ast.Constant(axis), ast.Load()) for axis in range(count)]
        return [None] * count

    def _filled(self, shape: Shape) -> CostEstimate:
        """The cost of storing to all elements of a part of an array."""
        return NO_COST if shape is None else self._sized(shape)

    def _augmented(self, node: ast.AugAssign) -> CostEstimate:
        price = self._expression(node.value)
        operation = ast.BinOp(node.target, node.op, node.value)
        shape = self._shape(operation)
        price += UNIT_COST if shape is None else self._started(shape)
        if isinstance(node.target, ast.Name):
            form = self._as_form(operation)
            self._define(node.target.id, form)
            self._sizes.inputs.shapes[node.target.id] = shape
            return price
        return price + self._expression(node.target) + UNIT_COST  # it is loaded and stored

    def _if(self, node: ast.If) -> CostEstimate:
        price = self._expression(node.test)
        condition = self._condition(node.test)
        if condition is None:
            return price + self._either(node, [node.body, node.orelse])
        with self._branch(node.test), self._assuming(condition):
            taken = self.block(node.body)
        with self._branch(node.test, holds=False), self._assuming(negated(condition)):
            other = self.block(node.orelse)
        yes = indicator_of(condition)
        return price + taken.times(yes, yes) + other.times(ONE_WORK - yes, ONE_WORK - yes)

    def _either(self, node: ast.AST, blocks: Sequence[Sequence[ast.stmt]]) -> CostEstimate:
        """The cost of one of several blocks; data decides which."""
        prices = []
        for block in blocks:
            with self._branch(None), self._assuming():
                prices.append(self.block(block))
        return self._choice(node, prices)

    def _try(self, node: ast.Try | ast.TryStar) -> CostEstimate:
        with self._branch(None), self._assuming():
            price = self.block([*node.body, *node.orelse])
        handled = [self._either(h, [h.body]) for h in node.handlers]
        price += CostEstimate(ZERO_WORK, WorkPolynomial.total(h.worst for h in handled))
        if any(h.worst.constant != 0 for h in handled):
            self._note(node, "exceptions are taken not to be raised")
        return price + self.block(node.finalbody)

    def _for(self, node: ast.For) -> CostEstimate:
        bound = bound_names(node.body)
        binder = self._binder(node, node.target, node.iter)
        if binder is not None and binder.variable.name in bound:
            binder = None
        price = self._expression(node.iter)
        span = self._span(node.target, node.iter, node)
        with self._turning(node, binder), self._assuming():
            self._forget(bound)
            self._bind(node.target, span)
            body = self.block(node.body) + UNIT_COST
        turning = self._repeated(body, span, node)
        if any(map(_ends, node.body)):
            self._note(node, "a loop that data may end early is taken to be left half-way")
            turning = turning.times(_HALF, ONE_WORK)
        return total_of([price, turning, self.block(node.orelse)])

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._sizes.inputs.shapes.pop(name, None)


def _always_jumps(body: Sequence[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Continue | ast.Break | ast.Return | ast.Raise)


def _ends(node: ast.AST, *, inner: bool = False) -> bool:
    """Whether it may end the loop that it stands in, other than by an exception."""
    if isinstance(node, ast.Return) or (isinstance(node, ast.Break) and not inner):
        return True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    loop = isinstance(node, ast.For | ast.AsyncFor | ast.While)
    return any(
        _ends(child, inner=inner or loop)
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, ast.expr)
    )
