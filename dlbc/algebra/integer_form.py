"""Integer forms: subscripts, bounds, conditions and index values as the dependence test sees them.

A form is a polynomial with integer coefficients over atoms: the loop's index, variables of inner loops, names
from before the loop, and applications that are not polynomial (``//``, ``%``, ``min``, ``max``, an element of
an array such as ``ix[i]``). The normal form makes equal polynomials equal objects. Each solver translates
forms itself: integer sets take affine ones, z3 takes products as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property

from dlbrt.records import dataclass


class VariableKind(Enum):
    """What a variable stands for."""

    INDEX = "index"
    ITEM = "item"
    INNER = "inner"
    PARAMETER = "parameter"


#: What the loop itself counts or takes.
OF_ITERATION = (VariableKind.INDEX, VariableKind.ITEM)

#: What differs between iterations, or within one.
MOVING = (VariableKind.INDEX, VariableKind.ITEM, VariableKind.INNER)


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer: the loop's index or item, the variable of the inner loop ``number``, or an outer name.

    An item, which the loop takes from a sequence, may be anything; as a subscript it is an integer.
    ``out_of_scope``: the variable of an inner loop that does not run here, with its value at another time.
    """

    kind: VariableKind
    name: str
    number: int = 0
    out_of_scope: bool = False

    def __hash__(self) -> int:
        return hash((self.name, self.number))

    def __str__(self) -> str:
        return self.name

    @classmethod
    def length(cls, axis: int, array: str) -> Variable:
        """The length of an array along an axis."""
        return cls(VariableKind.PARAMETER, f"length {axis} of {array}")

    @property
    def is_length(self) -> bool:
        """Whether it is a `length`, which has no text in the program."""
        return self.name.startswith("length ")


class Operator(Enum):
    """What an atom applies to its operands."""

    QUOTIENT = "//"
    REMAINDER = "%"
    MINIMUM = "min"
    MAXIMUM = "max"
    ELEMENT = "[]"
    CALL = "()"


_INFIX = (Operator.QUOTIENT, Operator.REMAINDER)


@dataclass(frozen=True)
class Apply:
    """``operator`` applied to the operands; ``name`` is the array of an ELEMENT, the function of a CALL."""

    operator: Operator
    operands: tuple[IntegerForm, ...]
    name: str = ""

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _hash(self) -> int:  # cached: operands are nested, and atoms are looked up often
        return hash((self.operator.value, self.operands, self.name))

    @cached_property
    def _text(self) -> str:
        texts = [str(o) for o in self.operands]
        if self.operator is Operator.ELEMENT:
            return f"{self.name}[{', '.join(texts)}]"
        if self.operator not in _INFIX:
            return f"{self.name or self.operator.value}({', '.join(texts)})"
        parts = (t if o.simple else f"({t})" for t, o in zip(texts, self.operands, strict=True))
        return f" {self.operator.value} ".join(parts)


Atom = Variable | Apply
Monomial = tuple[Atom, ...]


#: A form with more terms, factors in a term, applications, or bits in a number is too large to decide about:
#: what solvers do with it grows exponentially.
_MOST_TERMS, _MOST_FACTORS, _MOST_APPLICATIONS, _MOST_BITS = 64, 6, 16, 512


@dataclass(frozen=True)
class IntegerForm:
    """``sum(factor * product(monomial))``; the empty monomial is the literal part."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    @classmethod
    def literal(cls, value: int) -> IntegerForm:
        """An integer."""
        return cls((((), value),) if value else ())

    @classmethod
    def of(cls, atom: Atom) -> IntegerForm:
        """An atom by itself."""
        return cls((((atom,), 1),))

    @classmethod
    def parameter(cls, name: str) -> IntegerForm:
        """A name, or an expression given as text, that is the same in all iterations."""
        return cls.of(Variable(VariableKind.PARAMETER, name))

    @property
    def constant(self) -> int | None:
        """Its value if it is a literal."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def simple(self) -> bool:
        """Whether its text needs no parentheses as an operand."""
        if len(self.terms) != 1:
            return not self.terms
        (monomial, factor), = self.terms  # fmt: skip
        if not monomial:
            return factor >= 0
        return factor == 1 and len(monomial) == 1 and not _is_infix(monomial[0])

    def __add__(self, other: IntegerForm) -> IntegerForm:
        if not self.terms or not other.terms:
            return self if self.terms else other
        sums = dict(self.terms)
        for monomial, factor in other.terms:
            sums[monomial] = sums.get(monomial, 0) + factor
        return _normal(sums)

    def __neg__(self) -> IntegerForm:
        return IntegerForm(tuple((m, -k) for m, k in self.terms))

    def __sub__(self, other: IntegerForm) -> IntegerForm:
        return self + -other

    def __mul__(self, other: IntegerForm) -> IntegerForm:
        products: Counter[Monomial] = Counter()
        for left, j in self.terms:
            for right, k in other.terms:
                products[tuple(sorted(left + right, key=_order))] += j * k
        return _normal(products)

    @cached_property
    def is_large(self) -> bool:
        """Whether no solver should be asked about it."""
        return (
            self.applications > _MOST_APPLICATIONS
            or len(self.terms) > _MOST_TERMS
            or any(
                len(monomial) > _MOST_FACTORS or factor.bit_length() > _MOST_BITS
                for monomial, factor in self.terms
            )
        )

    @cached_property
    def applications(self) -> int:
        """How many atoms of it, and of their operands, are applications; one in two places counts twice."""
        applied = (atom for atom in self.atoms if isinstance(atom, Apply))
        return sum(1 + sum(operand.applications for operand in atom.operands) for atom in applied)

    @cached_property
    def variables(self) -> frozenset[Variable]:
        """Its variables, including those in operands."""
        return frozenset(v for atom in self.atoms for v in _variables(atom))

    @property
    def atoms(self) -> Iterator[Atom]:
        """The atoms of its monomials, without those of operands."""
        return (atom for monomial, _ in self.terms for atom in monomial)

    @cached_property
    def elements(self) -> frozenset[str]:
        """The arrays whose elements it reads."""
        return frozenset(name for atom in self.atoms for name in _elements(atom))

    @property
    def of_data(self) -> bool:
        """Whether data decide on it: elements of arrays, or items of what the loop runs over."""
        return bool(self.elements) or self.depends_on((VariableKind.ITEM,))

    def depends_on(self, kinds: Iterable[VariableKind] = MOVING) -> bool:
        """Whether it contains a variable of one of these kinds."""
        wanted = set(kinds)
        return any(v.kind in wanted for v in self.variables)

    def replaced(
        self, change: Callable[[Variable], IntegerForm], element: Callable[[Apply], IntegerForm] | None = None
    ) -> IntegerForm:
        """The form with every variable replaced, in operands too; ``element`` replaces elements."""
        return self.mapped(lambda atom: _replaced(atom, change, element))

    def mapped(self, change: Callable[[Atom], IntegerForm]) -> IntegerForm:
        """The form with the atoms of its monomials replaced."""
        total = IntegerForm()
        for monomial, factor in self.terms:
            product = IntegerForm.literal(factor)
            for atom in monomial:
                product = product * change(atom)
            total = total + product
        return total

    def coefficient(self, variable: Variable) -> int | None:
        """The literal coefficient of the variable; None if the variable also occurs in any other way."""
        coefficient = 0
        for monomial, factor in self.terms:
            if monomial == (variable,):
                coefficient = factor
            elif any(variable in _variables(atom) for atom in monomial):
                return None
        return coefficient

    def factor_of(self, variable: Variable) -> IntegerForm | None:
        """The form that the variable is multiplied by; None if it also occurs in any other way."""
        factors = IntegerForm()
        for monomial, factor in self.terms:
            rest = tuple(atom for atom in monomial if atom != variable)
            if any(variable in _variables(atom) for atom in rest) or len(monomial) - len(rest) > 1:
                return None
            if len(rest) < len(monomial):
                factors = factors + IntegerForm(((rest, factor),))
        return factors

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        text = ""
        for monomial, factor in sorted(self.terms, key=_print_order):
            sign = "-" if factor < 0 else "+"
            parts = [str(abs(factor))] if abs(factor) != 1 or not monomial else []
            alone = len(monomial) == 1 and not parts and not (factor < 0 and not text)
            parts += [f"({atom})" if _is_infix(atom) and not alone else str(atom) for atom in monomial]
            text += (f" {sign} " if text else "-" if factor < 0 else "") + "*".join(parts)
        return text or "0"


ZERO = IntegerForm()


def _is_infix(atom: Atom) -> bool:
    return isinstance(atom, Apply) and atom.operator in _INFIX


def _order(atom: Atom) -> tuple[bool, str, int, bool]:
    if isinstance(atom, Variable):
        return (False, atom.name, atom.number, atom.out_of_scope)
    return (True, str(atom), 0, False)


def _print_order(term: tuple[Monomial, int]) -> tuple[bool, bool, list[tuple[bool, str, int, bool]]]:
    monomial, factor = term
    return (not monomial, factor < 0, [_order(atom) for atom in monomial])


def _normal(sums: Mapping[Monomial, int]) -> IntegerForm:
    kept = [(m, k) for m, k in sums.items() if k]
    return IntegerForm(tuple(sorted(kept, key=lambda term: [_order(atom) for atom in term[0]])))


def _variables(atom: Atom) -> frozenset[Variable]:
    if isinstance(atom, Variable):
        return frozenset({atom})
    return frozenset(v for operand in atom.operands for v in operand.variables)


def _elements(atom: Atom) -> frozenset[str]:
    if isinstance(atom, Variable):
        return frozenset()
    own = {atom.name} if atom.operator is Operator.ELEMENT else set()
    return frozenset(own | {n for operand in atom.operands for n in operand.elements})


def _replaced(
    atom: Atom, change: Callable[[Variable], IntegerForm], element: Callable[[Apply], IntegerForm] | None
) -> IntegerForm:
    if isinstance(atom, Variable):
        return change(atom)
    if element is not None and atom.operator is Operator.ELEMENT:
        return element(atom)
    operands = tuple(operand.replaced(change, element) for operand in atom.operands)
    return IntegerForm.of(Apply(atom.operator, operands, atom.name))


@dataclass(frozen=True, slots=True)
class Comparison:
    """``form >= 0``, ``form == 0`` or ``form != 0``."""

    form: IntegerForm
    relation: str

    @classmethod
    def at_least(cls, left: IntegerForm, right: IntegerForm) -> Comparison:
        """``left >= right``."""
        return cls(left - right, ">=")

    @classmethod
    def below(cls, left: IntegerForm, right: IntegerForm) -> Comparison:
        """``left < right``."""
        return cls(right - left - IntegerForm.literal(1), ">=")

    @classmethod
    def equal(cls, left: IntegerForm, right: IntegerForm) -> Comparison:
        """``left == right``."""
        return cls(left - right, "==")


@dataclass(frozen=True, slots=True)
class Junction:
    """All (``and``) or any (``or``) of the parts. Without parts, ``and`` is true and ``or`` is false."""

    operator: str
    parts: tuple[Condition, ...]


Condition = Comparison | Junction


def replaced_in(condition: Condition, change: Callable[[Variable], IntegerForm]) -> Condition:
    """The condition with every variable replaced."""
    if isinstance(condition, Comparison):
        return Comparison(condition.form.replaced(change), condition.relation)
    return Junction(condition.operator, tuple(replaced_in(part, change) for part in condition.parts))


def is_fixed(condition: Condition) -> bool:
    """Whether it holds in all iterations or in none, wherever it stands in them."""
    if isinstance(condition, Comparison):
        return not condition.form.depends_on()
    return all(map(is_fixed, condition.parts))


def numbers_for(numbers: Mapping[str, int]) -> Callable[[Variable], IntegerForm]:
    """Replaces names from outside by the numbers that they are."""

    def change(variable: Variable) -> IntegerForm:
        known = variable.kind is VariableKind.PARAMETER and variable.name in numbers
        return IntegerForm.literal(numbers[variable.name]) if known else IntegerForm.of(variable)

    return change


def negated(condition: Condition) -> Condition:
    """The condition that holds exactly where this one does not."""
    if isinstance(condition, Junction):
        operator = "or" if condition.operator == "and" else "and"
        return Junction(operator, tuple(map(negated, condition.parts)))
    if condition.relation == ">=":
        return Comparison(-condition.form - IntegerForm.literal(1), ">=")
    return Comparison(condition.form, "!=" if condition.relation == "==" else "==")
