"""Forms and work in numbers: what their values are, and what the first iterations of a loop cost together."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import Apply, Atom, IntegerForm, Operator, Variable, VariableKind
from dlbc.algebra.iteration_cost import Cost
from dlbc.algebra.sums import sum_over, trip_count
from dlbc.algebra.work import Indicator, WorkPolynomial
from dlbc.algebra.work_text import Notation, text_of

POSITION = Variable(VariableKind.INDEX, "first_iterations")


def value_of(amount: IntegerForm | WorkPolynomial, variables: Mapping[Variable, int]) -> int | Fraction:
    """The value of a form or of work without elements; ``variables`` give all of its variables."""
    total: int | Fraction = 0
    for factors, coefficient in amount.terms:
        product: int | Fraction = coefficient
        for factor in factors:
            product *= _factor_value(factor, variables)
        total += product
    return total


def _factor_value(factor: Atom | Indicator, variables: Mapping[Variable, int]) -> int | Fraction:
    match factor:
        case Variable():
            return variables[factor]
        case Indicator(form=form, relation=relation):
            value = value_of(form, variables)
            return int(value >= 0 if relation == ">=" else value == 0)
        case Apply(operator=operator, operands=operands):
            values = [value_of(operand, variables) for operand in operands]
    match operator:
        case Operator.QUOTIENT:
            return values[0] // values[1]
        case Operator.REMAINDER:
            return values[0] % values[1]
    return {Operator.MINIMUM: min, Operator.MAXIMUM: max}[operator](values)


def function_of(work: WorkPolynomial | None, index: Variable) -> str:
    """The work as a ``lambda`` over the index, which may be a numpy vector; empty where it is not known."""
    return "" if work is None else f"lambda {index.name}: {text_of(work, index, Notation.NUMPY)}"


def cumulative(cost: Cost, space: IndexSpace) -> WorkPolynomial | None:
    """The work of the first `POSITION` iterations, where it is a polynomial (Faulhaber)."""
    start, step = space.start, space.step
    if cost.work is None or cost.degree is None or start is None or step is None:
        return None
    if space.reverse:
        if space.stop is None:
            return None
        pace, one = IntegerForm.literal(step), IntegerForm.literal(1)
        count = trip_count(start, space.stop, pace, clamped=False)
        assert count is not None  # the step is a literal
        start, step = start + pace * (count - one), -step
    return sum_over(cost.work, space.index, start, IntegerForm.literal(step), IntegerForm.of(POSITION))
