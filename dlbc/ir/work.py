"""Amounts of work: polynomials with rational coefficients over index, parameters, and what is no polynomial.

Where a `Form` says which element, a `Work` says how much: its coefficients are fractions, because sums of
powers have such (Faulhaber), and a condition may be a factor of it (`Holds`, 1 or 0). The normal form makes
equal polynomials equal objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property

from dlbrt.records import dataclass

from dlbc.ir.bounds import NOTHING, Assumptions, normal, substituted
from dlbc.ir.form import Atom, Comparison, Condition, Form, Junction, Variable

__all__ = ["NONE", "ONE", "Factor", "Factors", "Holds", "Number", "Work", "truth", "variables_of"]


@dataclass(frozen=True)
class Holds:
    """1 where ``form >= 0`` (``form == 0``), else 0."""

    form: Form
    relation: str = ">="

    def __str__(self) -> str:
        return f"({self.form} {self.relation} 0)"


Factor = Atom | Holds
Factors = tuple[Factor, ...]
Number = int | Fraction
Terms = tuple[tuple[Factors, Number], ...]


def _plain(value: Number) -> Number:
    """An integer where it is one: arithmetic on fractions is slow."""
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True)
class Work:
    """``sum(coefficient * product(factors))``; no factors: the literal part."""

    terms: Terms = ()

    @classmethod
    def literal(cls, value: Number) -> Work:
        """A number."""
        return cls((((), _plain(value)),) if value else ())

    @classmethod
    def of(cls, factor: Factor) -> Work:
        """A factor by itself."""
        return cls((((factor,), 1),))

    @classmethod
    def counted(cls, form: Form) -> Work:
        """As much as an integer form says."""
        return _ordered(dict(form.terms))

    @classmethod
    def total(cls, parts: Iterable[Work]) -> Work:
        """The sum of many."""
        sums: dict[Factors, Number] = {}
        for part in parts:
            for factors, k in part.terms:
                sums[factors] = sums.get(factors, 0) + k
        return _ordered(sums)

    @property
    def constant(self) -> Number | None:
        """Its value where it is a number."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def __add__(self, other: Work) -> Work:
        return Work.total((self, other)) if self.terms and other.terms else self if self.terms else other

    def __neg__(self) -> Work:
        return self * -1

    def __sub__(self, other: Work) -> Work:
        return Work.total((self, -other))

    def __mul__(self, other: Work | Number) -> Work:
        if not isinstance(other, Work):
            return Work(tuple((f, _plain(k * other)) for f, k in self.terms)) if other else NONE
        if other.terms == ONE.terms or self.terms == ONE.terms:
            return self if other.terms == ONE.terms else other
        products: dict[Factors, Number] = {}
        for left, j in self.terms:
            for right, k in other.terms:
                factors = _product(left, right)
                products[factors] = products.get(factors, 0) + j * k
        return _ordered(products)

    def __pow__(self, exponent: int) -> Work:
        power = ONE
        for _ in range(exponent):
            power = power * self
        return power

    @cached_property
    def factors(self) -> frozenset[Factor]:
        """Everything that its terms are products of."""
        return frozenset(factor for factors, _ in self.terms for factor in factors)

    @cached_property
    def variables(self) -> frozenset[Variable]:
        """Every variable in it, those in operands and conditions too."""
        return frozenset(v for factor in self.factors for v in variables_of(factor))

    @property
    def elements(self) -> frozenset[str]:
        """The arrays on whose elements it depends."""
        return frozenset(name for f in self.factors for name in _form_of(f).elements)

    def powers(self, variable: Variable) -> dict[int, Work] | None:
        """Its coefficients as a polynomial in the variable; None where it is none."""
        found: dict[int, dict[Factors, Number]] = {}
        for factors, k in self.terms:
            rest = tuple(f for f in factors if f != variable)
            if any(variable in variables_of(f) for f in rest):
                return None
            found.setdefault(len(factors) - len(rest), {})[rest] = k
        return {power: _ordered(part) for power, part in sorted(found.items())}

    def replaced(self, changes: Mapping[Atom, Form], given: Assumptions = NOTHING) -> Work:
        """With atoms changed, in operands and conditions too; ``given`` simplifies what comes of it."""
        if not any(_touched(factor, changes) for factor in self.factors):
            return self
        known: dict[Factor, Work] = {}
        return Work.total(
            Work.literal(k) * _multiplied(_replaced(f, changes, given, known) for f in factors)
            for factors, k in self.terms
        )

    def simplified(self, given: Assumptions) -> Work:
        """The same where the assumptions hold, in normal form."""
        known = {factor: _simplified(factor, given) for factor in self.factors}
        return Work.total(
            Work.literal(k) * _multiplied(known[f] for f in factors) for factors, k in self.terms
        )

    def value(self, variables: Mapping[Variable, int]) -> Number:
        """Its value; ``variables`` give all of its variables, and it depends on no elements."""
        known = {factor: _value(factor, variables) for factor in self.factors}
        total: Number = 0
        for factors, k in self.terms:
            for factor in factors:
                k *= known[factor]
            total += k
        return _plain(total)


def variables_of(factor: Factor) -> frozenset[Variable]:
    """The variables in a factor."""
    return frozenset({factor}) if isinstance(factor, Variable) else _form_of(factor).variables


def truth(condition: Condition) -> Work:
    """1 where the condition holds, else 0."""
    match condition:
        case Comparison(form=form, relation=relation):
            if form.constant is not None:
                value = form.constant
                holds = {">=": value >= 0, "==": value == 0, "!=": value != 0}[relation]
                return Work.literal(int(holds))
            if relation == "!=":
                return ONE - Work.of(Holds(form, "=="))
            return Work.of(Holds(form, relation))
        case Junction(word="and", parts=parts):
            return _multiplied(map(truth, parts))
        case Junction(parts=parts):
            return ONE - _multiplied(ONE - truth(part) for part in parts)


NONE = Work()
ONE = Work.literal(1)


def _ordered(sums: Mapping[Factors, Number]) -> Work:
    kept = [(f, _plain(k)) for f, k in sums.items() if k]
    return Work(tuple(sorted(kept, key=_order) if len(kept) > 1 else kept))


def _order(term: tuple[Factors, Number]) -> list[tuple[bool, str]]:
    return [_rank(factor) for factor in term[0]]


def _rank(factor: Factor) -> tuple[bool, str]:
    if isinstance(factor, Variable):
        return (False, f"{factor.name} {factor.number} {factor.loose}")
    return (True, str(factor))


def _product(left: Factors, right: Factors) -> Factors:
    if not left or not right:
        return left or right
    conditions = {f for f in left if isinstance(f, Holds)}
    return tuple(sorted((*left, *(f for f in right if f not in conditions)), key=_rank))


def _multiplied(parts: Iterable[Work]) -> Work:
    result = ONE
    for part in parts:
        result = result * part
    return result


def _form_of(factor: Factor) -> Form:
    return factor.form if isinstance(factor, Holds) else Form.of(factor)


def _touched(factor: Factor, changes: Mapping[Atom, Form]) -> bool:
    return any(
        atom in changes or any(_touched(a, changes) for a in _operand_atoms(atom))
        for atom in _form_of(factor).atoms
    )


def _operand_atoms(atom: Atom) -> Iterator[Atom]:
    return iter(()) if isinstance(atom, Variable) else (a for o in atom.operands for a in o.atoms)


def _replaced(
    factor: Factor, changes: Mapping[Atom, Form], given: Assumptions, known: dict[Factor, Work]
) -> Work:
    if factor not in known:
        if isinstance(factor, Holds):
            known[factor] = _holding(substituted(factor.form, changes, given), factor.relation, given)
        else:
            known[factor] = Work.counted(substituted(Form.of(factor), changes, given))
    return known[factor]


def _simplified(factor: Factor, given: Assumptions) -> Work:
    if isinstance(factor, Holds):
        return _holding(normal(factor.form, given), factor.relation, given)
    return Work.counted(normal(Form.of(factor), given))


def _holding(form: Form, relation: str, given: Assumptions) -> Work:
    if form.constant is not None:
        return truth(Comparison(form, relation))
    below = given.proves(-form - Form.literal(1))
    if relation == ">=":
        if below or given.proves(form):
            return NONE if below else ONE
    elif below or given.proves(form - Form.literal(1)):
        return NONE
    return Work.of(Holds(form, relation))


def _value(factor: Factor, variables: Mapping[Variable, int]) -> int:
    if isinstance(factor, Holds):
        found = factor.form.value(variables)
        return int(found >= 0 if factor.relation == ">=" else found == 0)
    return Form.of(factor).value(variables)
