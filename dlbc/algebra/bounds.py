"""Integer forms in normal form, and what follows from conditions on them.

Quotients and remainders by a literal take out the whole part: ``(5*i + 7)//2`` is ``2*i + 3 + (i + 1)//2``.
Minima and maxima drop operands that another operand makes redundant. Implications are decided by eliminating
one unknown after the other over the rationals (Fourier and Motzkin), where a product counts as an unknown of
its own. The method is sound and incomplete: what it proves is true, what it does not prove may be true too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import gcd

from dlbc.algebra.integer_form import (
    Apply,
    Atom,
    Comparison,
    Condition,
    IntegerForm,
    Junction,
    Monomial,
    Operator,
    Variable,
)

#: An elimination gives up beyond this number of rows or of unknowns.
_MOST_ROWS = 80
_MOST_UNKNOWNS = 12

_ONE = IntegerForm.literal(1)

Row = dict[Monomial, int]
#: What stands in for atoms.
Changes = Mapping[Atom, IntegerForm]


class Assumptions:
    """Forms that are all assumed to be at least 0."""

    def __init__(self, forms: Iterable[IntegerForm] = ()) -> None:
        self.forms = tuple(dict.fromkeys(forms))
        self._known: dict[IntegerForm, bool] = {}

    @classmethod
    def of(cls, conditions: Iterable[Condition]) -> Assumptions:
        """The inequalities and equations among conditions that all hold; other conditions are left out."""
        return cls(form for condition in conditions for form in _at_least_zero(condition))

    def extended(self, *forms: IntegerForm) -> Assumptions:
        """These assumptions and more."""
        return Assumptions((*self.forms, *forms)) if forms else self

    def proves(self, form: IntegerForm) -> bool:
        """Whether ``form >= 0`` follows."""
        constant = form.constant
        if constant is not None:
            return constant >= 0
        if form not in self._known:
            self._known[form] = self._follows(form)
        return self._known[form]

    @cached_property
    def contradict(self) -> bool:
        """Whether they cannot hold together."""
        return _impossible(_with_axioms(self.forms))

    def _follows(self, form: IntegerForm) -> bool:
        if form in self.forms:
            return True
        parts = _parts(Operator.MINIMUM, form)
        if parts != (form,):
            return all(map(self.proves, parts))
        return _impossible(_related(_with_axioms((-form - _ONE, *self.forms))))


NO_ASSUMPTIONS = Assumptions()


def _at_least_zero(condition: Condition) -> Iterator[IntegerForm]:
    match condition:
        case Comparison(form=form, relation=">="):
            yield form
        case Comparison(form=form, relation="=="):
            yield from (form, -form)
        case Junction(operator="and", parts=parts):
            for part in parts:
                yield from _at_least_zero(part)


def _with_axioms(forms: Sequence[IntegerForm]) -> list[Row]:
    """The forms as rows, with the axioms of their atoms, which hold for all values of the variables."""
    rows = [dict(form.terms) for form in forms]
    waiting, seen = [a for form in forms for a in form.atoms], set[Atom]()
    while waiting:
        atom = waiting.pop()
        if atom in seen:
            continue
        seen.add(atom)
        for axiom in _axioms(atom):
            rows.append(dict(axiom.terms))
            waiting += axiom.atoms
    squares = {monomial for row in rows for monomial in row if monomial and _is_square(monomial)}
    return [*rows, *({square: 1} for square in sorted(squares, key=str))]


def _is_square(monomial: Monomial) -> bool:
    """Whether every atom occurs in it an even number of times, so that it is never negative."""
    return len(monomial) > 1 and all(count % 2 == 0 for count in Counter(monomial).values())


def _axioms(atom: Atom) -> Iterator[IntegerForm]:
    this = IntegerForm.of(atom)
    match atom:
        case Variable(name=name):
            if ".shape[" in name or name.startswith("len("):
                yield this
        case Apply(operator=Operator.MAXIMUM, operands=operands):
            yield from (this - operand for operand in operands)
        case Apply(operator=Operator.MINIMUM, operands=operands):
            yield from (operand - this for operand in operands)
        case Apply(operator=Operator.QUOTIENT, operands=(form, divisor)) if divisor.constant:
            yield from _within(form - divisor * this, divisor.constant)
        case Apply(operator=Operator.REMAINDER, operands=(_, divisor)) if divisor.constant:
            yield from _within(this, divisor.constant)


def _within(form: IntegerForm, divisor: int) -> Iterator[IntegerForm]:
    yield form
    yield IntegerForm.literal(divisor - 1) - form


def _related(rows: list[Row]) -> list[Row]:
    """The first row, and the rows that share unknowns with it, directly or indirectly."""
    unknowns, kept, rest = set(rows[0]), [rows[0]], rows[1:]
    while True:
        near = [row for row in rest if unknowns & row.keys() - {()}]
        if not near:
            return [*kept, *(row for row in rest if not row.keys() - {()})]
        rest = [row for row in rest if not unknowns & row.keys() - {()}]
        kept += near
        unknowns.update(*near)


def _impossible(rows: list[Row]) -> bool:
    """Whether no rational values make all rows at least 0; False if the effort exceeds its bound."""
    for _ in range(_MOST_UNKNOWNS):
        if any(row.get((), 0) < 0 for row in rows if not row.keys() - {()}):
            return True
        unknown = _cheapest(rows)
        if unknown is None:
            return False
        rows = _without(rows, unknown)
        if len(rows) > _MOST_ROWS:
            return False
    return False


def _cheapest(rows: list[Row]) -> Monomial | None:
    """The unknown whose elimination produces the fewest rows."""
    signs: dict[Monomial, list[int]] = {}
    for row in rows:
        for unknown, factor in row.items():
            if unknown:
                signs.setdefault(unknown, [0, 0])[factor > 0] += 1
    return min(signs, key=lambda u: signs[u][0] * signs[u][1], default=None)


def _without(rows: list[Row], unknown: Monomial) -> list[Row]:
    kept = {frozenset(row.items()): row for row in rows if unknown not in row}
    above = [row for row in rows if row.get(unknown, 0) > 0]
    below = [row for row in rows if row.get(unknown, 0) < 0]
    for up, down in product(above, below):
        row = _combined(up, -down[unknown], down, up[unknown])
        if row.keys() - {()} or row.get((), 0) < 0:
            kept[frozenset(row.items())] = row
    return list(kept.values())


def _combined(left: Row, j: int, right: Row, k: int) -> Row:
    sums = {unknown: j * factor for unknown, factor in left.items()}
    for unknown, factor in right.items():
        sums[unknown] = sums.get(unknown, 0) + k * factor
    common = gcd(*sums.values())
    return {unknown: factor // common for unknown, factor in sums.items() if factor}


def quotient(form: IntegerForm, divisor: int) -> IntegerForm:
    """``form // divisor``."""
    if divisor < 0:
        form, divisor = -form, -divisor
    parts = [(m, _shared(m, k, divisor), k) for m, k in form.terms]
    whole = IntegerForm(tuple((m, part) for m, part, _ in parts if part))
    rest = IntegerForm(tuple((m, k - divisor * part) for m, part, k in parts if k != divisor * part))
    if rest.constant is not None:  # it lies below the divisor
        return whole
    literal = dict(rest.terms).get((), 0)
    common = gcd(divisor, *(k for m, k in rest.terms if m))
    if common > 1:
        smaller = IntegerForm(tuple((m, k // common) for m, k in rest.terms if m))
        return whole + quotient(smaller + IntegerForm.literal(literal // common), divisor // common)
    match rest.terms:
        case (((Apply(operator=Operator.QUOTIENT, operands=(inner, by)),), 1),) if by.constant:
            return whole + quotient(inner, by.constant * divisor)
    return whole + IntegerForm.of(Apply(Operator.QUOTIENT, (rest, IntegerForm.literal(divisor))))


def _shared(monomial: Monomial, factor: int, divisor: int) -> int:
    """How often the divisor goes into a factor: rounded towards 0, but downwards for the literal part."""
    return factor // divisor if factor > 0 or not monomial else -(-factor // divisor)


def remainder(form: IntegerForm, divisor: int) -> IntegerForm:
    """``form % divisor``."""
    if divisor < 0:
        return -remainder(-form, -divisor)
    rest = IntegerForm(tuple((m, k % divisor) for m, k in form.terms if k % divisor))
    if rest.constant is not None:
        return IntegerForm.literal(rest.constant % divisor)
    return IntegerForm.of(Apply(Operator.REMAINDER, (rest, IntegerForm.literal(divisor))))


def maximum(forms: Iterable[IntegerForm], assumptions: Assumptions = NO_ASSUMPTIONS) -> IntegerForm:
    """The maximum, without operands that never exceed another operand."""
    return _extreme(Operator.MAXIMUM, forms, assumptions)


def minimum(forms: Iterable[IntegerForm], assumptions: Assumptions = NO_ASSUMPTIONS) -> IntegerForm:
    """The minimum, without operands that never lie below another operand."""
    return _extreme(Operator.MINIMUM, forms, assumptions)


def _extreme(operator: Operator, forms: Iterable[IntegerForm], assumptions: Assumptions) -> IntegerForm:
    sign = 1 if operator is Operator.MAXIMUM else -1
    kept: list[IntegerForm] = []
    for form in dict.fromkeys(part for whole in forms for part in _parts(operator, whole)):
        if any(_exceeds(other, form, sign, assumptions) for other in kept):
            continue
        kept = [other for other in kept if not _exceeds(form, other, sign, assumptions)]
        kept.append(form)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda form: (form.constant is not None, str(form)))
    return IntegerForm.of(Apply(operator, tuple(kept)))


def _exceeds(form: IntegerForm, other: IntegerForm, sign: int, assumptions: Assumptions) -> bool:
    difference = form - other
    return assumptions.proves(difference if sign > 0 else -difference)


def _parts(operator: Operator, form: IntegerForm) -> tuple[IntegerForm, ...]:
    match form.terms:
        case (((Apply(operator=applied, operands=operands),), 1),) if applied is operator:
            return operands
    return (form,)


def substitute(form: IntegerForm, changes: Changes, assumptions: Assumptions = NO_ASSUMPTIONS) -> IntegerForm:
    """The form with atoms replaced, in operands too; every part that changes is in normal form."""
    if changes and not any(has_changed_atom(atom, changes) for atom in form.atoms):
        return form
    total = IntegerForm()
    for monomial, factor in form.terms:
        part = IntegerForm.literal(factor)
        for atom in monomial:
            part = part * _substituted(atom, changes, assumptions)
        total = total + part
    return total


def has_changed_atom(atom: Atom, changes: Changes) -> bool:
    """Whether the atom, or an atom in its operands, is among those to be changed."""
    if atom in changes:
        return True
    operands = atom.operands if isinstance(atom, Apply) else ()
    return any(has_changed_atom(a, changes) for o in operands for a in o.atoms)


def _substituted(atom: Atom, changes: Changes, assumptions: Assumptions) -> IntegerForm:
    if atom in changes:
        return changes[atom]
    if isinstance(atom, Variable):
        return IntegerForm.of(atom)
    return apply_operator(atom, [substitute(o, changes, assumptions) for o in atom.operands], assumptions)


def normal_form(form: IntegerForm, assumptions: Assumptions = NO_ASSUMPTIONS) -> IntegerForm:
    """The form with every application in normal form."""
    return substitute(form, {}, assumptions)


def apply_operator(
    atom: Apply, operands: Sequence[IntegerForm], assumptions: Assumptions = NO_ASSUMPTIONS
) -> IntegerForm:
    """The operator of an atom applied to other operands, in normal form."""
    match atom.operator:
        case Operator.QUOTIENT if operands[1].constant:
            return quotient(operands[0], operands[1].constant)
        case Operator.REMAINDER if operands[1].constant:
            return remainder(operands[0], operands[1].constant)
        case Operator.MAXIMUM:
            return maximum(operands, assumptions)
        case Operator.MINIMUM:
            return minimum(operands, assumptions)
    return IntegerForm.of(Apply(atom.operator, tuple(operands), atom.name))
