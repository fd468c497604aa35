"""Work as text: for people (``max(n - i, 0)``), or as an expression over a vector of indices (``np.where``).

A sum becomes a product where the index separates from the parameters (``(i + 1)*(3*m + 2)``); other sums are
grouped by powers of the index. One or two conditions become a choice between whole expressions.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

from dlbrt.records import dataclass

from dlbc.algebra.integer_form import Apply, IntegerForm, Operator, Variable
from dlbc.algebra.work import ZERO_WORK, Factor, Factors, Indicator, Number, WorkPolynomial

#: Work with at most this number of conditions is written as a choice.
_MOST_CHOICES = 2


class Notation(Enum):
    """How minima, maxima and choices are spelled."""

    PLAIN = "plain"
    NUMPY = "numpy"


def text_of(
    work: WorkPolynomial, index: Variable, style: Notation = Notation.PLAIN, numpy: str = "np"
) -> str:
    """The work as Python text; in `Notation.NUMPY` the index may be a vector and ``numpy`` is the module."""
    return _Writer(index, style is Notation.NUMPY, numpy).sum(work)


@dataclass(frozen=True)
class _Writer:
    index: Variable
    vector: bool
    numpy: str

    def sum(self, work: WorkPolynomial) -> str:
        """The text of an expression; as an operand it needs parentheses."""
        conditions = sorted((f for f in work.factors if isinstance(f, Indicator)), key=str)
        if 1 <= len(conditions) <= _MOST_CHOICES:
            return self._choice(conditions[0], work)
        if len(work.terms) <= 1:
            return self._inline(work)
        denominator = lcm(*(k.denominator for _, k in work.terms))
        whole = work * denominator
        content = gcd(*(int(k) for _, k in whole.terms))
        pieces = self._pieces(whole * Fraction(1, content))
        if len(pieces) == 1 and denominator == 1:
            return self._grouped(work)
        factors = [] if content == 1 else [str(content)]
        text = "*".join([*factors, *(self._operand(piece) for piece in pieces)])
        return text if denominator == 1 else f"{text}/{denominator}"

    def _choice(self, condition: Indicator, work: WorkPolynomial) -> str:
        first, second = (self.sum(_where(work, condition, holds=holds)) for holds in (True, False))
        test = self._test(condition)
        if self.vector:
            return f"{self.numpy}.where({test}, {first}, {second})"
        return f"({first} if {test} else {second})"

    def _pieces(self, work: WorkPolynomial) -> list[WorkPolynomial]:
        """Factors whose product it is."""
        common = _common(work)
        rest = _divided(work, common)
        pieces = [WorkPolynomial(((common, 1),))] if common else []
        powers = rest.powers(self.index) or {}
        parts = list(powers.values())
        if len(parts) < 2 or all(p.constant is not None for p in parts):
            return [*pieces, rest]
        ratios = [_ratio(part, parts[0]) for part in parts]
        if parts[0].constant is not None or None in ratios:
            return [*pieces, rest]
        shape = WorkPolynomial.total(
            WorkPolynomial.literal(ratio or 0) * WorkPolynomial.of(self.index) ** power
            for power, ratio in zip(powers, ratios, strict=True)
        )
        scale = lcm(*(k.denominator for _, k in shape.terms))
        return [*pieces, shape * scale, parts[0] * Fraction(1, scale)]

    def _grouped(self, work: WorkPolynomial) -> str:
        """Powers of the index with their coefficients, the highest power first."""
        powers = work.powers(self.index)
        if powers is None or len(powers) < 2:
            return self._inline(work)
        rest = powers.pop(0, ZERO_WORK)
        literal = WorkPolynomial(tuple(term for term in rest.terms if not term[0]))
        texts = [self._powers_part(power, part) for power, part in sorted(powers.items(), reverse=True)]
        texts += [self._inline(part) for part in (rest - literal, literal) if part.terms]
        first = next((k for k, text in enumerate(texts) if not text.startswith("-")), 0)
        return reduce(_joined, [texts.pop(first), *texts])

    def _powers_part(self, power: int, part: WorkPolynomial) -> str:
        if len(part.terms) == 1:
            return self._inline(part * WorkPolynomial.of(self.index) ** power)
        sign = -1 if all(k < 0 for _, k in part.terms) else 1
        return "-" * (sign < 0) + f"({self.sum(part * sign)})*{_power(self.index.name, power)}"

    def _inline(self, work: WorkPolynomial) -> str:
        text = ""
        for factors, k in sorted(work.terms, key=lambda term: (not term[0], term[1] < 0, -len(term[0]))):
            text = _joined(text, self._term(factors, k))
        return text or "0"

    def _term(self, factors: Factors, coefficient: Number) -> str:
        over = "" if coefficient.denominator == 1 else f"/{coefficient.denominator}"
        size = abs(coefficient.numerator)
        truths = all(isinstance(f, Indicator) for f in factors)  # numpy does not add booleans as numbers
        parts = [str(size)] if size != 1 or truths else []
        parts += [_power(self._factor(f), factors.count(f)) for f in dict.fromkeys(factors)]
        if factors and len(parts) == 1 and coefficient == 1 and isinstance(factors[0], Apply):
            return _bare(parts[0])
        return "-" * (coefficient < 0) + "*".join(parts) + over

    def _operand(self, work: WorkPolynomial) -> str:
        (factors, k), *others = work.terms
        if others or k != 1 or not factors:
            return f"({self.sum(work)})"
        return self._factor(factors[0]) if len(factors) == 1 else self.sum(work)

    def _factor(self, factor: Factor) -> str:
        if isinstance(factor, Variable):
            return factor.name
        if isinstance(factor, Indicator):
            return f"({self._test(factor)})"
        texts = [self.sum(WorkPolynomial.from_form(operand)) for operand in factor.operands]
        match factor.operator:
            case Operator.ELEMENT:
                return f"{factor.name}[{', '.join(texts)}]"
            case Operator.CALL:
                return f"{factor.name}({', '.join(texts)})"
            case Operator.MINIMUM | Operator.MAXIMUM:
                return self._extreme(factor.operator, texts)
        left, right = (self._simple(operand) for operand in factor.operands)
        return f"({left}{factor.operator.value}{right})"

    def _simple(self, operand: IntegerForm) -> str:
        text = self.sum(WorkPolynomial.from_form(operand))
        return text if operand.simple else f"({text})"

    def _extreme(self, operator: Operator, texts: list[str]) -> str:
        if not self.vector:
            return f"{operator.value}({', '.join(texts)})"
        name = f"{self.numpy}.{'minimum' if operator is Operator.MINIMUM else 'maximum'}"
        *others, text = texts
        for other in reversed(others):
            text = f"{name}({other}, {text})"
        return text

    def _test(self, condition: Indicator) -> str:
        """A comparison with the negative terms moved to the other side."""
        terms = condition.form.terms
        strict = condition.relation == ">=" and dict(terms).get((), 0) == -1
        kept = tuple((m, k) for m, k in terms if m or not strict)
        left = WorkPolynomial.from_form(IntegerForm(tuple((m, k) for m, k in kept if k > 0)))
        right = WorkPolynomial.from_form(IntegerForm(tuple((m, -k) for m, k in kept if k < 0)))
        relation = ">" if strict else condition.relation
        if not left.terms or (self.index in right.variables and self.index not in left.variables):
            left, right, relation = right, left, relation.replace(">", "<")
        return f"{self._inline(left)} {relation} {self._inline(right)}"


def _bare(text: str) -> str:
    """A quotient or remainder that stands alone needs no parentheses."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _joined(text: str, term: str) -> str:
    if not text:
        return term
    return f"{text} - {term[1:]}" if term.startswith("-") else f"{text} + {term}"


def _power(text: str, exponent: int) -> str:
    return text if exponent == 1 else f"{text}**{exponent}"


def _where(work: WorkPolynomial, condition: Indicator, *, holds: bool) -> WorkPolynomial:
    return WorkPolynomial.total(
        WorkPolynomial(((tuple(f for f in factors if f != condition), k),))
        for factors, k in work.terms
        if holds or condition not in factors
    )


def _common(work: WorkPolynomial) -> Factors:
    """The factors that all terms share."""
    first, *others = [list(factors) for factors, _ in work.terms]
    common = []
    for factor in first:
        if all(factor in other for other in others):
            common.append(factor)
            for other in others:
                other.remove(factor)
    return tuple(common)


def _divided(work: WorkPolynomial, common: Factors) -> WorkPolynomial:
    terms = []
    for factors, k in work.terms:
        rest = list(factors)
        for factor in common:
            rest.remove(factor)
        terms.append(WorkPolynomial(((tuple(rest), k),)))
    return WorkPolynomial.total(terms)


def _ratio(part: WorkPolynomial, other: WorkPolynomial) -> Number | None:
    """The ratio of the two, if it is a number."""
    if [f for f, _ in part.terms] != [f for f, _ in other.terms]:
        return None
    ratios = {Fraction(k, 1) / j for (_, k), (_, j) in zip(part.terms, other.terms, strict=True)}
    return ratios.pop() if len(ratios) == 1 else None
