"""Work polynomials: amounts of work, with rational coefficients, over index, parameters and other atoms.

An `IntegerForm` says which element; a `WorkPolynomial` says how much. Its coefficients are fractions, because
sums of powers have such coefficients (Faulhaber), and a condition may be one of its factors (an
`Indicator`, 1 or 0). The normal form makes equal polynomials equal objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property

from dlbrt.records import dataclass

from dlbc.algebra.bounds import NO_ASSUMPTIONS, Assumptions, Changes, has_changed_atom, substitute
from dlbc.algebra.integer_form import Atom, Comparison, Condition, IntegerForm, Junction, Variable


class NoClosedFormError(Exception):
    """No closed form was found; the message says why."""


@dataclass(frozen=True)
class Indicator:
    """1 where ``form >= 0`` (or ``form == 0``), else 0 (Iverson's bracket)."""

    form: IntegerForm
    relation: str = ">="

    def __str__(self) -> str:
        return f"({self.form} {self.relation} 0)"


Factor = Atom | Indicator
Factors = tuple[Factor, ...]
Number = int | Fraction
Terms = tuple[tuple[Factors, Number], ...]


#: No polynomial with more terms is of use, nor one with numbers of more bits: no program evaluates it.
MOST_TERMS, _MOST_BITS = 4000, 4096

#: No more products of terms are formed.
_MOST_PRODUCTS = 100_000


def _plain(value: Number) -> Number:
    """An integral fraction as an integer: arithmetic on fractions is slow."""
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True)
class WorkPolynomial:
    """``sum(coefficient * product(factors))``; the literal part has no factors."""

    terms: Terms = ()

    @classmethod
    def literal(cls, value: Number) -> WorkPolynomial:
        """A number."""
        return cls((((), _plain(value)),) if value else ())

    @classmethod
    def of(cls, factor: Factor) -> WorkPolynomial:
        """A factor by itself."""
        return cls((((factor,), 1),))

    @classmethod
    def from_form(cls, form: IntegerForm) -> WorkPolynomial:
        """The integer form as an amount of work."""
        return _ordered(dict(form.terms))

    @classmethod
    def total(cls, parts: Iterable[WorkPolynomial]) -> WorkPolynomial:
        """The sum of the parts."""
        sums: dict[Factors, Number] = {}
        for part in parts:
            for factors, k in part.terms:
                sums[factors] = sums.get(factors, 0) + k
        return _ordered(sums)

    @property
    def constant(self) -> Number | None:
        """Its value if it is a number."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def __add__(self, other: WorkPolynomial) -> WorkPolynomial:
        if not self.terms or not other.terms:
            return self if self.terms else other
        return WorkPolynomial.total((self, other))

    def __neg__(self) -> WorkPolynomial:
        return self * -1

    def __sub__(self, other: WorkPolynomial) -> WorkPolynomial:
        return WorkPolynomial.total((self, -other))

    def __mul__(self, other: WorkPolynomial | Number) -> WorkPolynomial:
        if not isinstance(other, WorkPolynomial):
            terms = tuple((f, _plain(k * other)) for f, k in self.terms)
            return WorkPolynomial(terms) if other else ZERO_WORK
        if other.terms == ONE_WORK.terms or self.terms == ONE_WORK.terms:
            return self if other.terms == ONE_WORK.terms else other
        if len(self.terms) * len(other.terms) > _MOST_PRODUCTS:
            raise NoClosedFormError(f"it has more than {MOST_TERMS} terms")
        products: dict[Factors, Number] = {}
        for left, j in self.terms:
            for right, k in other.terms:
                factors = _product(left, right)
                products[factors] = products.get(factors, 0) + j * k
        return _ordered(products)

    def __pow__(self, exponent: int) -> WorkPolynomial:
        return _multiplied([self] * exponent)

    @cached_property
    def is_large(self) -> bool:
        """Whether it has too many terms, or too large numbers, for a closed form to be of use."""
        return len(self.terms) > MOST_TERMS or any(
            number.numerator.bit_length() + number.denominator.bit_length() > _MOST_BITS
            for _, number in self.terms
        )

    @cached_property
    def factors(self) -> frozenset[Factor]:
        """The factors of all its terms."""
        return frozenset(factor for factors, _ in self.terms for factor in factors)

    @cached_property
    def variables(self) -> frozenset[Variable]:
        """Its variables, including those in operands and conditions."""
        return frozenset(v for factor in self.factors for v in variables_of(factor))

    @property
    def elements(self) -> frozenset[str]:
        """The arrays whose elements it depends on."""
        return frozenset(name for f in self.factors for name in _form_of(f).elements)

    def powers(self, variable: Variable) -> dict[int, WorkPolynomial] | None:
        """Its coefficients as a polynomial in the variable, by power; None if it is no such polynomial."""
        powers: dict[int, dict[Factors, Number]] = {}
        for factors, k in self.terms:
            rest = tuple(f for f in factors if f != variable)
            if any(variable in variables_of(f) for f in rest):
                return None
            powers.setdefault(len(factors) - len(rest), {})[rest] = k
        return {power: _ordered(part) for power, part in sorted(powers.items())}

    def replaced(self, changes: Changes, assumptions: Assumptions = NO_ASSUMPTIONS) -> WorkPolynomial:
        """With atoms replaced, in operands and conditions too; ``assumptions`` simplify the result."""
        if not any(has_changed_atom(atom, changes) for f in self.factors for atom in _form_of(f).atoms):
            return self
        return self._rebuilt(changes, assumptions)

    def simplified(self, assumptions: Assumptions) -> WorkPolynomial:
        """The same under the assumptions, in normal form."""
        return self._rebuilt({}, assumptions)

    def _rebuilt(self, changes: Changes, assumptions: Assumptions) -> WorkPolynomial:
        known = {factor: _substituted(factor, changes, assumptions) for factor in self.factors}
        parts = ((_multiplied(known[f] for f in factors), k) for factors, k in self.terms)
        return WorkPolynomial.total(WorkPolynomial.literal(k) * part for part, k in parts)


def variables_of(factor: Factor) -> frozenset[Variable]:
    """The variables in a factor."""
    return frozenset({factor}) if isinstance(factor, Variable) else _form_of(factor).variables


def indicator_of(condition: Condition) -> WorkPolynomial:
    """1 where the condition holds, else 0."""
    match condition:
        case Comparison(form=form, relation=relation):
            if form.constant is not None:
                value = form.constant
                holds = {">=": value >= 0, "==": value == 0, "!=": value != 0}[relation]
                return WorkPolynomial.literal(int(holds))
            if relation == "!=":
                return ONE_WORK - WorkPolynomial.of(Indicator(form, "=="))
            return WorkPolynomial.of(Indicator(form, relation))
        case Junction(operator="and", parts=parts):
            return _multiplied(map(indicator_of, parts))
        case Junction(parts=parts):
            return ONE_WORK - _multiplied(ONE_WORK - indicator_of(part) for part in parts)


ZERO_WORK = WorkPolynomial()
ONE_WORK = WorkPolynomial.literal(1)


def _ordered(sums: Mapping[Factors, Number]) -> WorkPolynomial:
    kept = [(f, _plain(k)) for f, k in sums.items() if k]
    return WorkPolynomial(tuple(sorted(kept, key=_order) if len(kept) > 1 else kept))


def _order(term: tuple[Factors, Number]) -> list[tuple[bool, str]]:
    return [_rank(factor) for factor in term[0]]


def _rank(factor: Factor) -> tuple[bool, str]:
    if isinstance(factor, Variable):
        return (False, f"{factor.name} {factor.number} {factor.out_of_scope}")
    return (True, str(factor))


def _product(left: Factors, right: Factors) -> Factors:
    if not left or not right:
        return left or right
    conditions = {f for f in left if isinstance(f, Indicator)}
    return tuple(sorted((*left, *(f for f in right if f not in conditions)), key=_rank))


def _multiplied(parts: Iterable[WorkPolynomial]) -> WorkPolynomial:
    result = ONE_WORK
    for part in parts:
        result = result * part
    return result


def _form_of(factor: Factor) -> IntegerForm:
    return factor.form if isinstance(factor, Indicator) else IntegerForm.of(factor)


def _substituted(factor: Factor, changes: Changes, assumptions: Assumptions) -> WorkPolynomial:
    form = substitute(_form_of(factor), changes, assumptions)
    if isinstance(factor, Indicator):
        return _holding(form, factor.relation, assumptions)
    return WorkPolynomial.from_form(form)


def _holding(form: IntegerForm, relation: str, assumptions: Assumptions) -> WorkPolynomial:
    if form.constant is not None:
        return indicator_of(Comparison(form, relation))
    below = assumptions.proves(-form - IntegerForm.literal(1))
    if relation == ">=":
        if below or assumptions.proves(form):
            return ZERO_WORK if below else ONE_WORK
    elif below or assumptions.proves(form - IntegerForm.literal(1)):
        return ZERO_WORK
    return WorkPolynomial.of(Indicator(form, relation))
