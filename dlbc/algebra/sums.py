"""Sums of work over the variable of a loop, in closed form, exact on empty ranges too.

Theory: a sum of powers over ``0 <= t < n`` is a polynomial in n (Faulhaber). It is right for ``n = 0`` as
well, so the clamped trip count, ``max(0, ...)``, takes the place of n. Terms with conditions on t, or with
``min``, ``max``, ``//`` and ``%`` of t, are split into cases until they are polynomials on a range: a minimum
equals an operand where that operand is below the others, and a quotient is a polynomial on each residue
class. The ends of these ranges are maxima of lower bounds and minima of upper bounds; they become cases of
their own only if an outer loop needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb, gcd

from dlbrt.records import dataclass

from dlbc.algebra.bounds import NO_ASSUMPTIONS, Assumptions, maximum, minimum, quotient, substitute
from dlbc.algebra.integer_form import ZERO, Apply, Atom, IntegerForm, Operator, Variable
from dlbc.algebra.work import (
    MOST_TERMS,
    ONE_WORK,
    ZERO_WORK,
    Factor,
    Factors,
    Indicator,
    NoClosedFormError,
    Number,
    WorkPolynomial,
    variables_of,
)

#: No closed form is sought beyond this number of residue classes of a quotient.
_MOST_CLASSES = 64

_FIRST = IntegerForm.literal(1)


def trip_count(
    start: IntegerForm,
    stop: IntegerForm,
    step: IntegerForm,
    assumptions: Assumptions = NO_ASSUMPTIONS,
    *,
    clamped: bool = True,
) -> IntegerForm | None:
    """``len(range(start, stop, step))``; None if the sign of the step is not known.

    Without ``clamped`` the count is right only for ranges that are not empty.
    """
    if assumptions.proves(-step - _FIRST):
        start, stop, step = stop, start, -step
    elif not assumptions.proves(step - _FIRST):
        return None
    rounded_up = stop - start + step - _FIRST
    if step.constant is None:
        count = IntegerForm.of(Apply(Operator.QUOTIENT, (rounded_up, step)))
    else:
        count = quotient(rounded_up, step.constant)
    return maximum([count, ZERO], assumptions) if clamped else count


def sum_over(
    work: WorkPolynomial,
    variable: Variable,
    start: IntegerForm,
    step: IntegerForm,
    count: IntegerForm,
    assumptions: Assumptions = NO_ASSUMPTIONS,
) -> WorkPolynomial:
    """The sum of ``work`` over ``variable = start, start + step, ...``, ``count`` values.

    The count must not be negative; ``assumptions`` hold for everything else. Raises `NoClosedFormError`.
    """
    position = replace(variable, out_of_scope=True)
    along = work.replaced({variable: start + step * IntegerForm.of(position)})
    inside = assumptions.extended(IntegerForm.of(position), count - IntegerForm.of(position) - _FIRST)
    return _Case(along, position, count, (), assumptions, inside).total()


@dataclass(frozen=True)
class _Case:
    """Work over ``0 <= position < count``, where the conditions (forms at least 0) hold."""

    work: WorkPolynomial
    position: Variable
    count: IntegerForm
    conditions: tuple[IntegerForm, ...]
    assumptions: Assumptions
    inside: Assumptions

    def total(self) -> WorkPolynomial:
        parts: list[WorkPolynomial] = []
        size = 0
        for atoms, part in self._groups().items():
            parts.append(self._with(part)._split(atoms))
            size += len(parts[-1].terms)
            if size > MOST_TERMS:
                raise NoClosedFormError(f"its closed form has more than {MOST_TERMS} terms")
        return WorkPolynomial.total(parts)

    def _with(self, work: WorkPolynomial, *conditions: IntegerForm) -> _Case:
        inside = self.inside.extended(*conditions)
        return replace(self, work=work, conditions=(*self.conditions, *conditions), inside=inside)

    def _groups(self) -> dict[frozenset[Factor], WorkPolynomial]:
        """The terms, grouped by those of their factors that contain the position."""
        groups: dict[frozenset[Factor], list[tuple[Factors, Number]]] = {}
        for factors, k in self.work.terms:
            key = frozenset(f for f in factors if f != self.position and self.position in variables_of(f))
            groups.setdefault(key, []).append((factors, k))
        return {key: WorkPolynomial(tuple(terms)) for key, terms in groups.items()}

    def _split(self, atoms: frozenset[Factor]) -> WorkPolynomial:
        """The total of a case whose terms all contain the position in exactly these factors."""
        conditions = [factor for factor in atoms if isinstance(factor, Indicator)]
        if conditions:
            return self._where(min(conditions, key=str))
        atom = next(self._innermost(atoms), None)
        if atom is None:
            return self._polynomial()
        if atom.operator in (Operator.MINIMUM, Operator.MAXIMUM):
            return WorkPolynomial.total(self._choices(atom))
        divides = atom.operator in (Operator.QUOTIENT, Operator.REMAINDER)
        divisor = atom.operands[1].constant if divides else None
        if not divisor:
            raise NoClosedFormError(f"{atom} is summed over {self.position}")
        return WorkPolynomial.total(self._classes(atom, divisor))

    def _where(self, factor: Indicator) -> WorkPolynomial:
        """Turn a condition that is a factor into a condition of the case."""
        rest = tuple((tuple(f for f in factors if f != factor), k) for factors, k in self.work.terms)
        both = (factor.form,) if factor.relation == ">=" else (factor.form, -factor.form)
        case = self._with(WorkPolynomial(rest), *both)
        return ZERO_WORK if case.inside.contradict else case.total()

    def _innermost(self, atoms: frozenset[Factor]) -> Iterator[Apply]:
        """The applications to polynomials in the position, in the factors and in the conditions."""
        waiting: list[Atom] = [a for a in atoms if not isinstance(a, Indicator)]
        waiting += [a for form in self.conditions for a in form.atoms]
        for atom in sorted(set(waiting), key=str):
            yield from _inside(atom, self.position)

    def _choices(self, atom: Apply) -> Iterator[WorkPolynomial]:
        """One case for each operand of a minimum (maximum): that operand is the first least (greatest)."""
        sign = 1 if atom.operator is Operator.MAXIMUM else -1
        for number, operand in enumerate(atom.operands):
            wins = [
                IntegerForm.literal(sign) * (operand - other) - (_FIRST if k < number else ZERO)
                for k, other in enumerate(atom.operands)
                if k != number
            ]
            case = self._changed({atom: operand})._with_more(wins)
            if case is not None:
                yield case.total()

    def _with_more(self, conditions: Sequence[IntegerForm]) -> _Case | None:
        needed = [c for c in conditions if not self.inside.proves(c)]
        case = self._with(self.work, *needed)
        return None if needed and case.inside.contradict else case

    def _changed(self, changes: dict[Atom, IntegerForm]) -> _Case:
        conditions = tuple(substitute(form, changes) for form in self.conditions)
        return replace(self, work=self.work.replaced(changes), conditions=conditions)

    def _classes(self, atom: Apply, divisor: int) -> Iterator[WorkPolynomial]:
        """One case for each residue class of the position, on which the quotient is a polynomial."""
        slope = atom.operands[0].coefficient(self.position)
        if slope is None:
            raise NoClosedFormError(f"{atom} is summed over {self.position}")
        classes = abs(divisor) // gcd(slope, divisor)
        if classes > _MOST_CLASSES:
            raise NoClosedFormError(f"{atom} has {classes} residue classes")
        here = IntegerForm.of(self.position)
        for residue in range(classes):
            position = IntegerForm.literal(classes) * here + IntegerForm.literal(residue)
            case = self._changed({self.position: position})
            count = quotient(self.count + IntegerForm.literal(classes - 1 - residue), classes)
            inside = self.assumptions.extended(here, count - here - _FIRST, *case.conditions)
            if not inside.contradict:
                yield replace(case, count=count, inside=inside).total()

    def _polynomial(self) -> WorkPolynomial:
        """The sum of a polynomial between the bounds that the conditions give."""
        lower, upper, always = [ZERO], [self.count], ONE_WORK
        for form in self.conditions:
            slope = form.coefficient(self.position)
            if slope is None:
                raise NoClosedFormError(f"{form} >= 0 has no known bound on {self.position}")
            rest = form - IntegerForm.literal(slope) * IntegerForm.of(self.position)
            if slope > 0:
                lower.append(-quotient(rest, slope))
            elif slope < 0:
                upper.append(quotient(rest, -slope) + _FIRST)
            else:
                always = always * WorkPolynomial.of(Indicator(rest)).simplified(self.assumptions)
        first = maximum(lower, self.assumptions)
        count = self.count
        if first != ZERO or len(upper) > 1:
            upper[0] = _unclamped(count)
            count = maximum([minimum(upper, self.assumptions) - first, ZERO], self.assumptions)
        return _power_sums(self.work, self.position, first, count) * always


def _unclamped(count: IntegerForm) -> IntegerForm:
    """A count that equals this one where it is positive, and may be negative elsewhere."""
    match count.terms:
        case (((Apply(operator=Operator.MAXIMUM, operands=operands),), 1),) if ZERO in operands:
            return maximum(operand for operand in operands if operand != ZERO)
    return count


def _inside(atom: Atom, position: Variable) -> Iterator[Apply]:
    if isinstance(atom, Variable) or position not in IntegerForm.of(atom).variables:
        return
    for operand in atom.operands:
        for inner in operand.atoms:
            yield from _inside(inner, position)
    yield atom


def _power_sums(
    work: WorkPolynomial, position: Variable, first: IntegerForm, count: IntegerForm
) -> WorkPolynomial:
    """The sum of a polynomial in the position over ``first <= position < first + count``."""
    shifted = work.replaced({position: first + IntegerForm.of(position)})
    powers = shifted.powers(position)
    if powers is None:
        raise NoClosedFormError(f"its work is not a polynomial in {position}")
    length = WorkPolynomial.from_form(count)
    return WorkPolynomial.total(part * _faulhaber_of(power, length) for power, part in powers.items())


def _faulhaber_of(power: int, count: WorkPolynomial) -> WorkPolynomial:
    """``0**power + ... + (count - 1)**power``, by Horner's rule."""
    total = ZERO_WORK
    for factor in reversed(faulhaber(power)):
        total = total * count + WorkPolynomial.literal(factor)
    return total


@cache
def faulhaber(power: int) -> tuple[Fraction, ...]:
    """The coefficients of ``sum(t**power for t in range(n))`` as a polynomial in n, the constant first."""
    if power == 0:
        return (Fraction(0), Fraction(1))
    # n**(p+1) is the telescoping sum of (t+1)**(p+1) - t**(p+1), a polynomial of lower powers of t.
    total = [Fraction(0)] * (power + 2)
    total[power + 1] = Fraction(1)
    for lower in range(power):
        for exponent, factor in enumerate(faulhaber(lower)):
            total[exponent] -= comb(power + 1, lower) * factor
    return tuple(factor / (power + 1) for factor in total)
