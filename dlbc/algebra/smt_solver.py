"""The solver for integer arithmetic that is not affine, such as products: z3, an optional package."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

from dlbc.algebra.integer_form import Atom, Comparison, Condition, IntegerForm, Operator, Variable

#: Bounds on one question: z3's own count of work, which is the same on every machine, and as a safety net ms.
_WORK = 3_000_000
_LIMIT_MS = 20_000


def available() -> bool:
    """Whether z3 is installed."""
    return importlib.util.find_spec("z3") is not None


class SmtSolver:
    """Asks z3 about conjunctions of conditions."""

    def __init__(self) -> None:
        import z3

        self._z3: Any = z3

    def is_empty(self, conditions: Sequence[Condition]) -> bool:
        """Whether surely nothing satisfies them."""
        solver = self._z3.Solver()
        solver.set("rlimit", _WORK)
        solver.set("timeout", _LIMIT_MS)
        solver.set("random_seed", 0)
        for condition in map(self._condition, conditions):
            if condition is not None:
                solver.add(condition)
        return bool(solver.check() == self._z3.unsat)

    def _condition(self, condition: Condition) -> Any:
        """The condition for z3; None leaves it out, which only adds solutions."""
        if isinstance(condition, Comparison):
            form = self._form(condition.form)
            if form is None:
                return None
            if condition.relation == ">=":
                return form >= 0
            return form == 0 if condition.relation == "==" else form != 0
        parts = [self._condition(part) for part in condition.parts]
        if condition.operator == "and":
            return self._z3.And(*(p for p in parts if p is not None))
        return None if any(p is None for p in parts) else self._z3.Or(*parts)

    def _form(self, form: IntegerForm) -> Any:
        total = self._z3.IntVal(0)
        for monomial, factor in form.terms:
            atoms = [self._atom(atom) for atom in monomial]
            if any(atom is None for atom in atoms):
                return None
            total = total + reduce(mul, atoms, self._z3.IntVal(factor))
        return total

    def _atom(self, atom: Atom) -> Any:
        if isinstance(atom, Variable):
            return self._z3.Int(f"{atom.kind.value} {atom.name} {atom.number} {atom.out_of_scope}")
        if atom.operator is Operator.ELEMENT:
            return None
        operands = [self._form(o) for o in atom.operands]
        if any(o is None for o in operands):
            return None
        if atom.operator in (Operator.QUOTIENT, Operator.REMAINDER):
            divisor = atom.operands[1].constant
            if divisor is None or divisor <= 0:
                return None  # with a negative divisor z3 rounds differently from Python
            return operands[0] / divisor if atom.operator is Operator.QUOTIENT else operands[0] % divisor
        least = atom.operator is Operator.MINIMUM
        return reduce(lambda a, b: self._z3.If(a <= b if least else a >= b, a, b), operands)
