"""Between which values a subscript moves, as conditions that are checked before a chunk begins.

A subscript is a polynomial over the loop's index, the variables of inner loops, and expressions that do not
change while the loop runs. It is linear in each variable, so it is least and greatest at the ends of the
variable's range. Inner variables are replaced by these ends from the innermost outwards (Fourier, Motzkin):
in ``C[k - i]`` with ``i <= k`` the least subscript is ``i - i``, whatever ``i`` is.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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

    def factor_of(self, variable: str) -> Linear | None:
        """What the variable is multiplied by; None where it occurs in a power."""
        if any(monomial.count(variable) > 1 for monomial, _ in self.terms):
            return None
        found = {tuple(a for a in m if a != variable): f for m, f in self.terms if variable in m}
        return Linear.of(found)

    def replaced(self, variable: str, value: Linear) -> Linear:
        """With the value in place of the variable."""
        rest = Linear.of({m: f for m, f in self.terms if variable not in m})
        factor = self.factor_of(variable)
        assert factor is not None
        return rest + factor * value

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


class Scope:
    """What names mean at a place in the body: the loops around it, and what does not change."""

    def __init__(self, index: str, low: str, high: str, invariant: Callable[[ast.expr], bool]) -> None:
        self._runs = [Run(index, (Linear.atom(low),), (Linear.atom(high),))]
        self._invariant = invariant

    def inside(self, run: Run) -> None:
        """Enter a loop."""
        self._runs.append(run)

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
        """The expression as a form; None where it is no such polynomial."""
        match node:
            case ast.Constant(value=value) if type(value) is int:
                return Linear.literal(value)
            case ast.Name(id=name) if name in self.variables:
                return Linear.atom(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self.linear(operand)
                return None if found is None else -found
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
        if not self._invariant(node):
            return None
        text = ast.unparse(node)
        return Linear.atom(
            text if isinstance(node, ast.Name | ast.Call | ast.Subscript | ast.Attribute) else f"({text})"
        )

    def ends(self, form: Linear, *, least: bool) -> list[list[Linear]] | None:
        """The least (or greatest) value of a form over all iterations, or a bound of it.

        Each element is a bound by itself: the worst of its forms, which hold no variable of a loop. None
        where there are too many, or the form is not linear in a variable.
        """
        found = [[form]]
        for run in reversed(self._runs):
            found = [chosen for each in found for chosen in _without(each, run, least=least)]
            if not found or len(found) > _MOST:
                return None
        return found


def _without(forms: Sequence[Linear], run: Run, *, least: bool) -> Iterator[list[Linear]]:
    """The alternatives for forms without the run's variable."""
    choices = []
    for form in forms:
        factor = form.factor_of(run.variable)
        if factor is None:
            return
        if not factor.terms:
            choices.append([[form]])
            continue
        low = [form.replaced(run.variable, bound) for bound in run.lows]
        high = [form.replaced(run.variable, bound) for bound in run.highs]
        if factor.number is None:  # either end may be the worst
            choices.append([[one, two] for one, two in product(low, high)])
        else:
            choices.append([[each] for each in (low if (factor.number > 0) == least else high)])
    for chosen in product(*choices):
        yield [form for forms in chosen for form in forms]
