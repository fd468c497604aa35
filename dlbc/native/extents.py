"""Between which values a subscript moves, as conditions that are checked before a chunk begins.

A subscript is a polynomial over the loop's index, the variables of inner loops, and expressions that do not
change while the loop runs. It is linear in each variable, so it is least and greatest at the ends of the
variable's range. Inner variables are replaced by these ends from the innermost outwards (Fourier, Motzkin):
in ``C[k - i]`` with ``i <= k`` the least subscript is ``i - i``, whatever ``i`` is.

A power is least and greatest there, too, where each step of the variable from 0 upwards makes it grow. A
quotient ``e // c`` by a positive literal grows with ``e``, so it runs from the quotient of the least ``e`` to
that of the greatest; packed triangles have the subscript ``p * (p + 1) // 2 + q``. A remainder ``e % c`` runs
from 0 to ``c - 1``, whatever ``e`` is.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

from dlbrt.records import dataclass

#: A product of names and invariant expressions, in order; the empty one is the literal part.
Monomial = tuple[str, ...]
#: More candidates for an end than this are not worth their text.
_MOST = 4


@dataclass(frozen=True)
class Linear:
    """``sum(factor * product(monomial))``."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @classmethod
    def of(cls, terms: Mapping[Monomial, int]) -> Linear:
        """Without terms that are zero, in a fixed order."""
        return cls(tuple(sorted((m, f) for m, f in terms.items() if f)))

    @classmethod
    def atom(cls, name: str) -> Linear:
        """A variable, or an invariant expression given as text."""
        return cls((((name,), 1),))

    @classmethod
    def literal(cls, value: int) -> Linear:
        """An integer."""
        return cls((((), value),) if value else ())

    def __add__(self, other: Linear) -> Linear:
        terms: Counter[Monomial] = Counter(dict(self.terms))
        for monomial, factor in other.terms:
            terms[monomial] += factor
        return Linear.of(terms)

    def __neg__(self) -> Linear:
        return Linear(tuple((m, -f) for m, f in self.terms))

    def __sub__(self, other: Linear) -> Linear:
        return self + -other

    def __mul__(self, other: Linear) -> Linear:
        terms: Counter[Monomial] = Counter()
        for (one, f), (two, g) in product(self.terms, other.terms):
            terms[tuple(sorted(one + two))] += f * g
        return Linear.of(terms)

    @property
    def number(self) -> int | None:
        """The value, if it is a literal."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == () else None

    @property
    def atoms(self) -> frozenset[str]:
        """The names and expressions in it."""
        return frozenset(name for monomial, _ in self.terms for name in monomial)

    @property
    def names(self) -> frozenset[str]:
        """The names in it, those in expressions too."""
        trees = map(ast.parse, self.atoms)
        return frozenset(n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name))

    def factor_of(self, variable: str) -> Linear | None:
        """What the variable is multiplied by; None where it occurs in a power."""
        if any(monomial.count(variable) > 1 for monomial, _ in self.terms):
            return None
        found = {tuple(a for a in m if a != variable): f for m, f in self.terms if variable in m}
        return Linear.of(found)

    def replaced(self, variable: str, value: Linear) -> Linear:
        """With the value in place of the variable."""
        result = Linear()
        for monomial, factor in self.terms:
            part = Linear.of({tuple(a for a in monomial if a != variable): factor})
            for _ in range(monomial.count(variable)):
                part *= value
            result += part
        return result

    def grows_with(self, variable: str) -> bool | None:
        """Whether it never falls as a variable grows from 0, or never grows; None where that is not seen."""
        step = self.replaced(variable, Linear.atom(variable) + Linear.literal(1)) - self
        signs = {factor > 0 for _, factor in step.terms}
        return signs.pop() if step.atoms <= {variable} and len(signs) == 1 else None

    @property
    def text(self) -> str:
        """The expression."""
        parts = ""
        for monomial, factor in sorted(self.terms, key=lambda term: (not term[0], term[1] < 0)):
            sign = (" - " if factor < 0 else " + ") if parts else ("-" if factor < 0 else "")
            names = [*monomial] if abs(factor) == 1 and monomial else [str(abs(factor)), *monomial]
            parts += sign + " * ".join(names)
        return parts or "0"


@dataclass(frozen=True)
class Run:
    """A variable that runs from ``lows`` (the greatest of them) to ``highs`` (the least), both included."""

    variable: str
    lows: tuple[Linear, ...]
    highs: tuple[Linear, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names in its bounds."""
        return frozenset().union(*(form.names for form in (*self.lows, *self.highs)))


class Scope:
    """What names mean at a place in the body: the loops around it, and what does not change."""

    def __init__(
        self,
        index: str,
        low: str,
        high: str,
        invariant: Callable[[ast.expr], bool],
        is_local: Callable[[str], bool],
        has_no_minus: Callable[[str], bool],
        length: Callable[[ast.expr], Linear | None],
    ) -> None:
        self._runs = [Run(index, (Linear.atom(low),), (Linear.atom(high),))]
        self._invariant, self._is_local, self._has_no_minus = invariant, is_local, has_no_minus
        self._length = length
        #: What is divided by which literal, by the text of the quotient.
        self._quotients: dict[str, tuple[Linear, int]] = {}
        #: The divisor of each remainder, and the names in what is divided, by its text.
        self._remainders: dict[str, tuple[Linear, frozenset[str]]] = {}

    def inside(self, run: Run) -> None:
        """Enter a loop."""
        self._runs.append(run)

    @property
    def depth(self) -> int:
        """How many loops are around, the annotated one among them."""
        return len(self._runs)

    def outside(self) -> None:
        """Leave the innermost loop."""
        self._runs.pop()

    @property
    def variables(self) -> frozenset[str]:
        """The variables of the loops around."""
        return frozenset(run.variable for run in self._runs)

    def run_of(self, variable: str, arguments: Sequence[ast.expr]) -> Run | None:
        """How a variable runs over ``range(*arguments)``; None if that is not known."""
        start = arguments[0] if len(arguments) > 1 else ast.Constant(0)
        stop = arguments[1] if len(arguments) > 1 else arguments[0]
        step = self.linear(arguments[2]) if len(arguments) > 2 else Linear.literal(1)
        if step is None or not step.number:
            return None
        one = Linear.literal(1)
        if step.number > 0:
            lows, highs = self._bounds(start, "max"), self._bounds(stop, "min")
            highs = None if highs is None else tuple(h - one for h in highs)
        else:
            lows, highs = self._bounds(stop, "max"), self._bounds(start, "min")
            lows = None if lows is None else tuple(low + one for low in lows)
        return None if lows is None or highs is None else Run(variable, lows, highs)

    def _bounds(self, node: ast.expr, name: str) -> tuple[Linear, ...] | None:
        """The candidates for a bound: ``max`` of lower ones is at least each of them."""
        match node:
            case ast.Call(func=ast.Name(id=called), args=arguments, keywords=[]) if called == name:
                found = [self.linear(each) for each in arguments]
                known = tuple(f for f in found if f is not None)
                return known if len(known) == len(found) <= _MOST else None
        form = self.linear(node)
        return None if form is None else (form,)

    def linear(self, node: ast.expr) -> Linear | None:
        """The expression as a form; None where it is no such polynomial.

        Numbers that the body has computed are atoms of it, too: it is then known where these are.
        """
        match node:
            case ast.Constant(value=value) if type(value) is int:
                return Linear.literal(value)
            case ast.Name(id=name) if name in self.variables or self._is_local(name):
                return Linear.atom(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self.linear(operand)
                return None if found is None else -found
            case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int() as divisor)) if (
                divisor > 0 and not self._invariant(node)
            ):
                numerator = self.linear(left)
                return None if numerator is None else self._quotient(numerator, divisor)
            case ast.BinOp(left=left, op=ast.Mod(), right=right) if not self._invariant(node):
                return self._remainder(node, left, right)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
                one, two = self.linear(left), self.linear(right)
                if one is None or two is None:
                    return None
                return (
                    one + two
                    if isinstance(op, ast.Add)
                    else one - two
                    if isinstance(op, ast.Sub)
                    else one * two
                )
        if (length := self._length(node)) is not None:
            return length
        if not self._invariant(node):
            return None
        text = ast.unparse(node)
        return Linear.atom(
            text if isinstance(node, ast.Name | ast.Call | ast.Subscript | ast.Attribute) else f"({text})"
        )

    def _quotient(self, form: Linear, divisor: int) -> Linear:
        if form.number is not None:
            return Linear.literal(form.number // divisor)
        text = f"(({form.text}) // {divisor})"
        self._quotients[text] = form, divisor
        return Linear.atom(text)

    def _remainder(self, node: ast.expr, left: ast.expr, right: ast.expr) -> Linear | None:
        divisor = self.linear(right) if self._invariant(right) else None
        if divisor is None or (divisor.number is not None and divisor.number <= 0):
            return None
        text = f"({ast.unparse(node)})"
        names = frozenset(n.id for n in ast.walk(left) if isinstance(n, ast.Name))
        self._remainders[text] = divisor, names
        return Linear.atom(text)

    def _without_remainders(
        self, form: Linear, needed: list[Linear], *, least: bool
    ) -> list[list[Linear]] | None:
        """The form with the ends of the remainders in it; None where the rest of it goes with one of them."""
        found = [[form]]
        for text in sorted(form.atoms & self._remainders.keys()):
            divisor, names = self._remainders[text]
            if form.replaced(text, Linear()).names & names or form.factor_of(text) is None:
                return None
            last = divisor - Linear.literal(1)
            if last.number is None:
                needed.append(last)
            run = Run(text, (Linear(),), (last,))
            found = [c for forms in found for c in _without(forms, run, needed, least=least)]
        return found

    def is_not_negative(self, form: Linear) -> bool:
        """Whether a form is a sum of products of what is known not to be negative."""
        return all(factor > 0 and all(map(self._is_size, monomial)) for monomial, factor in form.terms)

    def _is_size(self, atom: str) -> bool:
        if atom in self._quotients:
            return self.is_not_negative(self._quotients[atom][0])
        if atom in self._remainders and self._remainders[atom][0].number is not None:
            return True
        return self._has_no_minus(atom)

    def ends(
        self, form: Linear, needed: list[Linear], *, least: bool, depth: int = 0
    ) -> list[list[Linear]] | None:
        """The least (or greatest) value of a form over all iterations, or a bound of it.

        Each element is a bound by itself: the worst of its forms, which hold no variable of a loop. None
        where there are too many, or where it is not at an end of a variable's range. ``depth``: over the
        iterations of the loops from this one inwards, for one iteration of those around them. ``needed``
        gets forms that must not be negative for the bounds to hold.
        """
        if not all(map(partial(self._agree, form), form.atoms)):
            return None
        found = self._without_remainders(form, needed, least=least)
        if found is None:
            return None
        for run in reversed(self._runs[depth:]):
            atoms = sorted({atom for forms in found for each in forms for atom in each.atoms})
            texts = [atom for atom in atoms if run.variable in self._inner(atom)]
            quotients = [self._run_of_quotient(text, needed, depth) for text in texts]
            for each in (*quotients, run):
                if each is None:
                    return None
                found = [c for forms in found for c in _without(forms, each, needed, least=least)]
                if not found or len(found) > _MOST:
                    return None
        return found

    def _agree(self, form: Linear, atom: str) -> bool:
        """Whether the rest of a form grows or falls with a quotient in it.

        Otherwise its ends are no ends of the form: ``i - i // 2`` is never as large as the last ``i``.
        """
        factor = form.factor_of(atom) if atom in self._quotients else Linear.literal(1)
        if factor is None or not factor.number:
            return False
        sign = 1 if factor.number > 0 else -1
        for variable in self._inner(atom) & self.variables:
            inner = self._quotients[atom][0].factor_of(variable)
            own = form.factor_of(variable)
            if own is None or own.number is None:
                return False
            falls = inner is not None and (inner.number is None or inner.number < 0)
            if own.number and (falls or own.number * sign < 0):
                return False
        return True

    def _inner(self, atom: str) -> frozenset[str]:
        """What is in the numerator of a quotient, and in those of the quotients there."""
        if atom not in self._quotients:
            return frozenset()
        atoms = self._quotients[atom][0].atoms
        return atoms.union(*map(self._inner, atoms))

    def _run_of_quotient(self, text: str, needed: list[Linear], depth: int) -> Run | None:
        """Between which values a quotient is."""
        form, divisor = self._quotients[text]
        least, most = (self.ends(form, needed, least=each, depth=depth) for each in (True, False))
        if least is None or most is None:
            return None
        lows, highs = (
            tuple(self._quotient(each[0], divisor) for each in found if len(each) == 1)
            for found in (least, most)
        )
        return Run(text, lows, highs) if lows and highs else None


def _without(
    forms: Sequence[Linear], run: Run, needed: list[Linear], *, least: bool
) -> Iterator[list[Linear]]:
    """The alternatives for forms without the run's variable."""
    choices = []
    for form in forms:
        if run.variable not in form.atoms:
            choices.append([[form]])
            continue
        factor = form.factor_of(run.variable)
        grows = form.grows_with(run.variable) if factor is None else None
        lows = run.lows if factor is not None else _not_negative(run, needed)
        if (factor is None and grows is None) or not lows:
            return
        low = [form.replaced(run.variable, bound) for bound in lows]
        high = [form.replaced(run.variable, bound) for bound in run.highs]
        if factor is not None and factor.number is not None:
            grows = factor.number > 0
        if grows is None:  # either end may be the worst
            choices.append([[one, two] for one, two in product(low, high)])
        else:
            choices.append([[each] for each in (low if grows == least else high)])
    for chosen in product(*choices):
        yield [form for forms in chosen for form in forms]


def _not_negative(run: Run, needed: list[Linear]) -> tuple[Linear, ...]:
    """The lower bounds of a variable that are not negative; one that may be is ``needed`` not to be."""
    sure = tuple(low for low in run.lows if low.number is not None and low.number >= 0)
    if not sure and len(run.lows) == 1 and run.lows[0].number is None:
        needed += run.lows
        return run.lows
    return sure
