"""Integer forms: subscripts, bounds and conditions as the dependence test sees them.

A form is a polynomial with integer coefficients over atoms: the loop's index, variables of inner loops, names
from before the loop, and applications that are not polynomial (``//``, ``%``, ``min``, ``max``, an element of
an array such as ``ix[i]``). The normal form makes equal polynomials equal objects. What a form becomes in a
solver (integer sets are affine, z3 takes products) is the solver's business.
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
    INNER = "inner"
    PARAMETER = "parameter"


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer: the loop's index, the variable of the inner loop ``number``, or a name from outside.

    ``loose``: the inner loop's variable at some other time than now.
    """

    kind: VariableKind
    name: str
    number: int = 0
    out_of_scope: bool = False

    def __hash__(self) -> int:
        return hash((self.name, self.number))

    def __str__(self) -> str:
        return self.name


class Operator(Enum):
    """What an atom applies to its operands."""

    QUOTIENT = "//"
    REMAINDER = "%"
    MINIMUM = "min"
    MAXIMUM = "max"
    ELEMENT = "[]"
    CALL = "()"


@dataclass(frozen=True)
class Apply:
    """``operator`` of the operands; ``name`` is the array of an ELEMENT, the function of a CALL."""

    operator: Operator
    operands: tuple[IntegerForm, ...]
    name: str = ""

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _hash(self) -> int:  # operands are nested, and atoms are looked up often
        return hash((self.operator.value, self.operands, self.name))

    @cached_property
    def _text(self) -> str:
        texts = [str(o) for o in self.operands]
        if self.operator is Operator.ELEMENT:
            return f"{self.name}[{', '.join(texts)}]"
        if self.operator is Operator.CALL:
            return f"{self.name}({', '.join(texts)})"
        if self.operator in (Operator.MINIMUM, Operator.MAXIMUM):
            return f"{self.operator.value}({', '.join(texts)})"
        return f" {self.operator.value} ".join(
            t if o.simple else f"({t})" for t, o in zip(texts, self.operands, strict=True)
        )


Atom = Variable | Apply
Monomial = tuple[Atom, ...]


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

    @property
    def constant(self) -> int | None:
        """Its value where it is a literal."""
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
        atom = monomial[0]
        infix = isinstance(atom, Apply) and atom.operator in (Operator.QUOTIENT, Operator.REMAINDER)
        return factor == 1 and len(monomial) == 1 and not infix

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
    def variables(self) -> frozenset[Variable]:
        """Every variable in it, those in operands too."""
        return frozenset(v for atom in self.atoms for v in _variables(atom))

    @property
    def atoms(self) -> Iterator[Atom]:
        """The atoms of its monomials, not of their operands."""
        return (atom for monomial, _ in self.terms for atom in monomial)

    @cached_property
    def elements(self) -> frozenset[str]:
        """The arrays of which it takes elements."""
        return frozenset(name for atom in self.atoms for name in _elements(atom))

    def depends_on(self, kinds: Iterable[VariableKind] = (VariableKind.INDEX, VariableKind.INNER)) -> bool:
        """Whether it has a variable of these kinds."""
        wanted = set(kinds)
        return any(v.kind in wanted for v in self.variables)

    def replaced(
        self, change: Callable[[Variable], IntegerForm], element: Callable[[Apply], IntegerForm] | None = None
    ) -> IntegerForm:
        """With every variable changed into a form, in operands too; ``element`` changes elements."""
        total = IntegerForm()
        for monomial, factor in self.terms:
            product = IntegerForm.literal(factor)
            for atom in monomial:
                product = product * _replaced(atom, change, element)
            total = total + product
        return total

    def coefficient(self, variable: Variable) -> int | None:
        """Its literal coefficient; None where the variable is met otherwise than times a literal."""
        found = 0
        for monomial, factor in self.terms:
            if monomial == (variable,):
                found = factor
            elif any(variable in _variables(atom) for atom in monomial):
                return None
        return found

    def value(self, variables: Mapping[Variable, int]) -> int:
        """Its value; ``variables`` give all of its variables, and it takes no elements."""
        total = 0
        for monomial, factor in self.terms:
            for atom in monomial:
                factor *= variables[atom] if isinstance(atom, Variable) else _applied(atom, variables)
            total += factor
        return total

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        text = ""
        for monomial, factor in sorted(self.terms, key=_print_order):
            sign = "-" if factor < 0 else "+"
            parts = [str(abs(factor))] if abs(factor) != 1 or not monomial else []
            alone = len(monomial) == 1 and not parts and not (factor < 0 and not text)
            parts += [_factor_text(atom, alone=alone) for atom in monomial]
            text += (f" {sign} " if text else "-" if factor < 0 else "") + "*".join(parts)
        return text or "0"


ZERO = IntegerForm()


def _factor_text(atom: Atom, *, alone: bool) -> str:
    infix = isinstance(atom, Apply) and atom.operator in (Operator.QUOTIENT, Operator.REMAINDER)
    return f"({atom})" if infix and not alone else str(atom)


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


def _applied(atom: Apply, variables: Mapping[Variable, int]) -> int:
    values = [operand.value(variables) for operand in atom.operands]
    match atom.operator:
        case Operator.QUOTIENT:
            return values[0] // values[1]
        case Operator.REMAINDER:
            return values[0] % values[1]
        case Operator.MINIMUM:
            return min(values)
        case Operator.MAXIMUM:
            return max(values)
    raise ValueError(f"the value of {atom} is not known")


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
    """All (``and``) or any (``or``) of the parts; no part of ``and`` is true, none of ``or`` false."""

    operator: str
    parts: tuple[Condition, ...]


Condition = Comparison | Junction


def negated(condition: Condition) -> Condition:
    """What holds where the condition does not."""
    if isinstance(condition, Junction):
        word = "or" if condition.operator == "and" else "and"
        return Junction(word, tuple(map(negated, condition.parts)))
    if condition.relation == ">=":
        return Comparison(-condition.form - IntegerForm.literal(1), ">=")
    return Comparison(condition.form, "!=" if condition.relation == "==" else "==")


# ------------------------------------------------------------------------------
# The values of the loop's index as the dependence test sees them.


@dataclass(frozen=True)
class IndexSpace:
    """``range(start, stop, step)`` of the variable ``name``; None where not known.

    ``pace`` is the step where it is no literal. ``facts`` hold of names from before the loop; ``known`` says
    that the index takes these values exactly; ``reverse`` that it does so from the last to the first.
    """

    name: str
    start: IntegerForm | None
    stop: IntegerForm | None
    step: int | None
    context: tuple[Condition, ...] = ()
    exact: bool = True
    symbolic_step: IntegerForm | None = None
    reverse: bool = False

    @property
    def index(self) -> Variable:
        """The index."""
        return Variable(VariableKind.INDEX, self.name)

    @property
    def stride(self) -> int:
        """What every distance between iterations is a multiple of."""
        return abs(self.step or 1)
