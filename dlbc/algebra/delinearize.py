"""Delinearisation: what a product by a steady stride says about integers, without the product.

Flat subscripts such as ``y * W + x`` are not affine, but their parts are. A form is *steady* if it consists
of names from before the loop, so that it is one number S in all iterations.

Theorem (Maslov 1992; for strides that are parameters: Grosser, Ramanujam, Pouchet, Sadayappan, ICS 2015).
Let U*S + R = 0 with S >= 1. Then U = 0 and R = 0, or U = 1 and R = -S, or U = -1 and R = S, or U >= 2 and R
<= -2*S, or U <= -2 and R >= 2*S. For R = -U*S, and U*S >= 2*S if U >= 2.

Two subscripts u*S + r and v*S + s are equal where U*S + R = 0 with U = u - v and R = r - s. If r and s lie
in one window of length S, only the first case is left: u = v and r = s, as for an array of two dimensions.
U may have products itself (``(z * H + y) * W + x``); then the theorem applies to U. The strides are found
by division of polynomials, and integer sets decide what remains; under S <= 0 nothing is claimed, so where
the sign is not known it becomes part of a guard.

Quotients by a steady stride are parts of such forms: e // S = Q and e % S = R with e - Q*S - R = 0, 0 <= R
< S if S >= 1, and Q >= c if and only if e >= c*S.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd

from dlbrt.records import dataclass

from dlbc.algebra.integer_form import (
    ZERO,
    Apply,
    Atom,
    Comparison,
    Condition,
    IntegerForm,
    Junction,
    Monomial,
    Operator,
    Variable,
    VariableKind,
)

_ONE, _TWO = IntegerForm.literal(1), IntegerForm.literal(2)

#: The number of strides tried for one form; each one multiplies the cases.
_STRIDES = 2

#: Dimensions that one form may have beyond the first.
_DEPTH = 3


def is_linear(form: IntegerForm) -> bool:
    """Whether it has no product, quotient or remainder that integer sets cannot express.

    Products of steady atoms are one number, so they do not count.
    """
    return all(len(_moving(m)) == 0 or (len(m) == 1 and _is_linear(m[0])) for m, _ in form.terms)


def _is_linear(atom: Atom) -> bool:
    if isinstance(atom, Variable):
        return True
    if atom.operator in (Operator.QUOTIENT, Operator.REMAINDER):
        return is_linear(atom.operands[0]) and (atom.operands[1].constant or 0) > 0
    return atom.operator in (Operator.MINIMUM, Operator.MAXIMUM) and all(map(is_linear, atom.operands))


def is_steady(form: IntegerForm) -> bool:
    """Whether it is the same number in all iterations."""
    return not any(_moving(m) for m, _ in form.terms)


def _moving(monomial: Monomial) -> Monomial:
    return tuple(
        a for a in monomial if any(v.kind is not VariableKind.PARAMETER for v in IntegerForm.of(a).variables)
    )


def vanishes(form: IntegerForm, depth: int = _DEPTH) -> Condition:
    """A condition without products that holds wherever ``form == 0``, by the theorem above."""
    if is_linear(form):
        return Comparison(form, "==")
    parts: list[Condition] = []
    for stride, times, rest in _splits(form) if depth else ():
        cases: list[Condition] = [Comparison.at_least(ZERO, stride)]
        for turns in (ZERO, _ONE, -_ONE):
            moved = Comparison.equal(rest, -turns * stride)
            cases.append(Junction("and", (moved, vanishes(times - turns, depth - 1))))
        above, below = Comparison.at_least(times, _TWO), Comparison.at_least(-_TWO, times)
        cases.append(Junction("and", (above, Comparison.at_least(-_TWO * stride, rest))))
        cases.append(Junction("and", (below, Comparison.at_least(rest, _TWO * stride))))
        parts.append(Junction("or", tuple(cases)))
    return Junction("and", tuple(parts))


def is_negative(form: IntegerForm, depth: int = _DEPTH) -> Condition:
    """A condition without products that holds wherever ``form < 0``.

    U*S + R < 0 means S < 0, or R < 0, or S > 0 and U < 0.
    """
    if is_linear(form):
        return Comparison.below(form, ZERO)
    parts: list[Condition] = []
    for stride, times, rest in _splits(form) if depth else ():
        less = Junction("and", (Comparison.below(ZERO, stride), is_negative(times, depth - 1)))
        cases = (Comparison.below(stride, ZERO), Comparison.below(rest, ZERO), less)
        parts.append(Junction("or", cases))
    return Junction("and", tuple(parts))


def steady_products(forms: Iterable[IntegerForm]) -> Iterator[tuple[IntegerForm, IntegerForm, IntegerForm]]:
    """Products of steady atoms in these forms, each with its first factor and the product of the others."""
    whole = [m for form in forms for m, _ in form.terms if len(m) > 1 and not _moving(m)]
    monomials = dict.fromkeys(m[k:] for m in whole for k in range(len(m) - 1))
    for monomial in list(monomials)[:_STRIDES]:
        yield IntegerForm(((monomial, 1),)), IntegerForm.of(monomial[0]), IntegerForm(((monomial[1:], 1),))


def signs(forms: Iterable[IntegerForm]) -> Iterator[Condition]:
    """What the signs of steady products and of their factors say about each other."""
    for product, one, other in steady_products(forms):
        both_above = (Comparison.at_least(one, _ONE), Comparison.at_least(other, _ONE))
        both_below = (Comparison.at_least(-_ONE, one), Comparison.at_least(-_ONE, other))
        least = (Comparison.at_least(product, one), Comparison.at_least(product, other))
        yield Junction("or", (
            Comparison.at_least(ZERO, product),
            Junction("and", (*both_above, *least)),
            Junction("and", both_below),
        ))  # fmt: skip
        yield Junction("or", (
            Comparison.at_least(ZERO, one), Comparison.at_least(ZERO, other), Comparison.below(ZERO, product)
        ))  # fmt: skip


def _splits(form: IntegerForm) -> Iterator[tuple[IntegerForm, IntegerForm, IntegerForm]]:
    """Strides S with U and R, such that ``form == U*S + R`` and R has no products."""
    found = 0
    for stride in _strides(form):
        times, rest = divided(form, stride)
        if is_linear(rest) and found < _STRIDES:
            found += 1
            yield stride, times, rest


def _strides(form: IntegerForm) -> list[IntegerForm]:
    """What moving atoms are multiplied by, and the same without a literal factor; the shortest first."""
    factors: dict[Monomial, IntegerForm] = {}
    for monomial, factor in form.terms:
        moving = _moving(monomial)
        if moving:
            steady = IntegerForm(((tuple(a for a in monomial if a not in moving), factor),))
            factors[moving] = factors.get(moving, ZERO) + steady
    strides: dict[IntegerForm, None] = {}
    for factor_form in factors.values():
        if factor_form.constant is None:
            content = gcd(*(k for _, k in factor_form.terms))
            content = -content if _leading(factor_form)[1] < 0 else content
            primitive = IntegerForm(tuple((m, k // content) for m, k in factor_form.terms))
            strides |= {primitive: None, primitive * IntegerForm.literal(abs(content)): None}
    return sorted(strides, key=lambda s: (len(_leading(s)[0]), len(s.terms), str(s)))


def divided(form: IntegerForm, stride: IntegerForm) -> tuple[IntegerForm, IntegerForm]:
    """U and R with ``form == U*stride + R``: division of polynomials, by the leading term of the stride."""
    leading, factor = _leading(stride)
    times, rest = ZERO, form
    for _ in range(len(form.terms) * (len(stride.terms) + 1)):
        hits = ((m, k) for m, k in sorted(rest.terms, key=_degree, reverse=True) if k % factor == 0)
        found = next(((m, k) for m, k in hits if _without(m, leading) is not None), None)
        if found is None:
            break
        part = IntegerForm(((_without(found[0], leading) or (), found[1] // factor),))
        times, rest = times + part, rest - part * stride
    return times, rest


def without_quotients(form: IntegerForm) -> IntegerForm:
    """The form with ``e // S * S`` written as ``e - e % S``, so that ``k // m * m + k % m`` is ``k``.

    Literal divisors are left to integer sets.
    """
    for atom in form.atoms:
        if not isinstance(atom, Apply) or atom.operator is not Operator.QUOTIENT:
            continue
        dividend, stride = atom.operands
        factor = _factor_of(form, atom)
        if stride.constant is not None or not factor.terms:
            continue
        times, rest = divided(factor, stride)
        if times.terms and not rest.terms:
            remainder = IntegerForm.of(Apply(Operator.REMAINDER, atom.operands))
            return form - times * (IntegerForm.of(atom) * stride + remainder - dividend)
    return form


def _factor_of(form: IntegerForm, atom: Atom) -> IntegerForm:
    """What an atom is multiplied by where it stands once in a product."""
    found = ((tuple(a for a in m if a != atom), k) for m, k in form.terms if m.count(atom) == 1)
    return sum((IntegerForm((term,)) for term in found), ZERO)


def _leading(form: IntegerForm) -> tuple[Monomial, int]:
    return max(form.terms, key=_degree)


def _degree(term: tuple[Monomial, int]) -> tuple[int, list[str]]:
    return len(term[0]), list(map(str, term[0]))


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """The monomial divided by another one; None if it is no multiple."""
    left = list(monomial)
    for atom in part:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


@dataclass(frozen=True, slots=True)
class Division:
    """``dividend // stride`` and ``dividend % stride`` in one iteration, as integers of their own."""

    dividend: IntegerForm
    stride: IntegerForm
    quotient: Variable
    remainder: Variable

    @property
    def difference(self) -> IntegerForm:
        """A form that is 0 by definition."""
        return self.dividend - IntegerForm.of(self.quotient) * self.stride - IntegerForm.of(self.remainder)

    def conditions(self, bounds: Iterable[IntegerForm]) -> Iterator[Condition]:
        """What holds of quotient and remainder; ``bounds``: steady forms, perhaps bounds of the dividend."""
        yield Comparison(self.difference, "==")  # a product, which only a solver for products understands
        quotient, remainder = IntegerForm.of(self.quotient), IntegerForm.of(self.remainder)
        facts: list[Condition] = [
            Comparison.at_least(remainder, ZERO),
            Comparison.below(remainder, self.stride),
        ]
        for turns in dict.fromkeys((ZERO, *(divided(b, self.stride)[0] for b in bounds))):
            reached = turns * self.stride
            above = (Comparison.at_least(quotient, turns), Comparison.at_least(self.dividend, reached))
            below = (Comparison.below(quotient, turns), Comparison.below(self.dividend, reached))
            facts.append(Junction("or", (Junction("and", above), Junction("and", below))))
        yield Junction("or", (Comparison.at_least(ZERO, self.stride), Junction("and", tuple(facts))))

    def compared(self, other: Division) -> Iterator[Condition]:
        """What is known of two divisions by one stride: the theorem.

        Where dividends have products, which it does not decide, quotients grow with dividends all the same.
        """
        yield vanishes(self.difference - other.difference)
        if is_linear(self.dividend - other.dividend):
            return
        for low, high in ((self, other), (other, self)):
            ascending = Comparison.at_least(IntegerForm.of(high.quotient), IntegerForm.of(low.quotient))
            fewer = is_negative(high.dividend - low.dividend)
            yield Junction("or", (Comparison.at_least(ZERO, self.stride), ascending, fewer))


def is_division(atom: Atom) -> bool:
    """Whether it is a quotient or remainder by a steady form that integer sets cannot express."""
    if not isinstance(atom, Apply) or atom.operator not in (Operator.QUOTIENT, Operator.REMAINDER):
        return False
    dividend, stride = atom.operands
    return bool(stride.terms) and is_steady(stride) and not is_steady(dividend) and not _is_linear(atom)
