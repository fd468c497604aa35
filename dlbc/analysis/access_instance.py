"""One of the two accesses of a dependence problem, in an iteration of its own.

Everything that differs between iterations has a copy: the index, the variables of inner loops, elements of
arrays. What integer sets cannot express becomes an integer of its own: elements, and quotients by steady
forms.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from dlbc.algebra.delinearize import Division, is_division
from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import (
    Apply,
    Atom,
    Comparison,
    Condition,
    IntegerForm,
    Junction,
    Operator,
    Variable,
    VariableKind,
)
from dlbc.ir.access_path import is_part


class AccessInstance:
    """One of two accesses, with its own copies of everything that differs between iterations."""

    def __init__(self, number: int, space: IndexSpace, written: frozenset[str]) -> None:
        self._mark = "'" * number
        self.index = Variable(VariableKind.INDEX, space.index.name + self._mark)
        self._written = written
        self._fresh = itertools.count(1)
        self._elements: dict[Apply, Variable] = {}
        self._counted: dict[Variable, IntegerForm] = {}
        self._divisions: dict[tuple[IntegerForm, ...], Division] = {}
        self.exact = True

    @property
    def divisions(self) -> list[Division]:
        """The quotients and remainders by steady forms in what was asked for so far."""
        return list(self._divisions.values())

    def of(self, form: IntegerForm) -> IntegerForm:
        """The form in this iteration."""
        return form.replaced(self._own, self._element).mapped(self._integer)

    def count(self, variable: Variable, start: IntegerForm, step: IntegerForm) -> IntegerForm:
        """Write the variable of an inner loop as ``start + t*step`` from here on; t."""
        turn = IntegerForm.of(self.new(variable.name))
        self._counted[variable] = start + turn * step
        return turn

    def new(self, name: str) -> Variable:
        """A new variable of this instance."""
        return Variable(VariableKind.INNER, f"{name}{self._mark}", -next(self._fresh))

    def _own(self, variable: Variable) -> IntegerForm:
        if variable.kind is VariableKind.PARAMETER:
            return IntegerForm.of(variable)
        if variable.out_of_scope or variable.kind is VariableKind.ITEM:
            self.exact = False
        if variable in self._counted:
            return self._counted[variable]
        return IntegerForm.of(replace(variable, name=variable.name + self._mark))

    def _element(self, atom: Apply) -> IntegerForm:
        """An element of an array is some integer: always the same if its place is fixed and not stored to."""
        steady = not any(_may_share_elements(atom.name, w) for w in self._written)
        if steady and not any(o.depends_on() for o in atom.operands):
            return IntegerForm.parameter(str(atom))
        self.exact = False
        if not steady:
            return IntegerForm.of(self.new(str(atom)))
        if atom not in self._elements:
            self._elements[atom] = self.new(str(atom))
        return IntegerForm.of(self._elements[atom])

    def _integer(self, atom: Atom) -> IntegerForm:
        """The atom, with integers in place of quotients and remainders by steady forms."""
        if isinstance(atom, Variable):
            return IntegerForm.of(atom)
        operands = tuple(operand.mapped(self._integer) for operand in atom.operands)
        atom = Apply(atom.operator, operands, atom.name)
        if not is_division(atom):
            return IntegerForm.of(atom)
        self.exact = False
        if operands not in self._divisions:
            dividend, stride = operands
            quotient, remainder = self.new("quotient"), self.new("remainder")
            self._divisions[operands] = Division(dividend, stride, quotient, remainder)
        division = self._divisions[operands]
        whole = atom.operator is Operator.QUOTIENT
        return IntegerForm.of(division.quotient if whole else division.remainder)

    def condition(self, condition: Condition) -> Condition:
        """The condition in this iteration."""
        if isinstance(condition, Comparison):
            return Comparison(self.of(condition.form), condition.relation)
        return Junction(condition.operator, tuple(map(self.condition, condition.parts)))


def _may_share_elements(array: str, written: str) -> bool:
    return array == written or is_part(array, written) or is_part(written, array)
