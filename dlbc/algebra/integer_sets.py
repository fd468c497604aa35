"""Integer sets (isl, through islpy): exact for affine conditions.

Conditions that are not affine are left out. That only weakens the conjunction, so "no solution" stays right.
Names of the program never enter isl's text, where some of them would be keywords.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from functools import reduce
from types import ModuleType

from dlbc.algebra.integer_form import (
    Atom,
    Comparison,
    Condition,
    IntegerForm,
    Operator,
    Variable,
    VariableKind,
)

#: Bound on isl's work for one question; beyond it the question has no answer.
_OPERATIONS = 500_000

#: Quotients, remainders, minima and maxima in one condition, and in all of a question: isl needs twice the
#: time for each. A condition with more is left out, like one that is not affine.
_APPLIED, _APPLIED_IN_ALL = 16, 64

#: Bounds within which witnesses are sought, one after the other, so that their numbers are small.
_BOXES = (8, 24, 200, 5000)

#: A guard may have this number of alternatives, each of this number of conditions.
_GUARD_PARTS = 3

Conditions = Sequence[Condition]


def available() -> bool:
    """Whether islpy is installed."""
    return importlib.util.find_spec("islpy") is not None


class IntegerSets:
    """Asks isl about conjunctions of conditions."""

    def __init__(self) -> None:
        import islpy

        self._isl: ModuleType = islpy
        self._context = islpy.DEFAULT_CONTEXT
        self._context.set_on_error(1)  # otherwise isl prints its errors
        self._context.set_max_operations(_OPERATIONS)
        self.affine = True
        self._parameters: dict[Variable, str] = {}
        self._answers: dict[tuple[str, ...], bool] = {}

    def is_empty(self, conditions: Conditions) -> bool:
        """Whether surely nothing satisfies them; `affine` then says whether none of them was left out."""
        writer = _Writer()
        texts = writer.conjunction(conditions)
        self.affine = writer.affine
        if texts not in self._answers:
            self._context.reset_operations()
            try:
                self._answers[texts] = bool(self._set(writer, texts).is_empty())
            except self._isl.Error:
                self._answers[texts] = False
        return self._answers[texts]

    def witness(self, conditions: Conditions) -> dict[Variable, int] | None:
        """A solution in small numbers, if there is one; `affine` as after `is_empty`."""
        writer = _Writer()
        texts = writer.conjunction(conditions)
        self.affine = writer.affine
        self._context.reset_operations()
        try:
            whole = self._set(writer, texts)
            for size in _BOXES:
                box = " and ".join(f"-1 <= {name} <= {size}" for name in writer.names.values())
                near = whole.intersect(self._set(writer, (box or "true",)))
                if not near.is_empty():
                    return self._point(near.lexmin(), writer)
        except self._isl.Error:
            return None
        return None

    def guard(
        self, meetings: Iterable[Conditions], executed: Iterable[Conditions], many: Iterable[Conditions]
    ) -> str | None:
        """A condition on parameters, as source text, under which no meeting has a solution.

        None unless the condition is short and admits some of every one of ``many``; alternatives that admit
        none are left out. ``executed`` says for each meeting that both accesses are executed: where none
        are, the condition may be true or false.
        """
        try:
            self._context.reset_operations()
            bad = self._union(meetings)
            wanted = [self._where(instances) for instances in many]
            if bad is None or any(instances.subtract(bad).is_empty() for instances in wanted):
                return None
            space = self._union(executed).simple_hull().to_set()
            good = bad.coalesce().complement().gist(space).coalesce()
            good = good.gist(space).coalesce().get_basic_sets()
            return self._text([b for b in good if not all(b.to_set().is_disjoint(w) for w in wanted)])
        except self._isl.Error:
            return None

    def _union(self, questions: Iterable[Conditions]):  # type: ignore[no-untyped-def]
        """The values of the parameters for which one of the questions has a solution, or more than these."""
        found = [self._where(conditions) for conditions in questions]
        return reduce(lambda one, other: one.union(other), found) if found else None

    def _where(self, conditions: Conditions):  # type: ignore[no-untyped-def]
        """The values of the parameters for which the conditions have a solution, or more than these.

        The lengths of arrays are left free, since the rows of a guard are looked at without them.
        """
        writer = _Writer(self._parameters)
        texts = writer.conjunction(conditions)
        parameters = [
            name for v, name in writer.names.items() if v.kind is VariableKind.PARAMETER and not v.is_length
        ]
        return self._set(writer, texts, parameters).params()

    def _set(  # type: ignore[no-untyped-def]
        self, writer: _Writer, texts: Iterable[str], parameters: Sequence[str] = ()
    ):
        """What satisfies all of the texts.

        Alternatives are taken in by the number of them that are left, the fewest first, as in unit
        propagation: isl would multiply out all alternatives of one text before it drops any.
        """
        inner = [name for name in writer.names.values() if name not in set(parameters)]
        before = f"[{', '.join(parameters)}] -> " if parameters else ""
        whole, *waiting = (self._isl.Set(f"{before}{{ [{', '.join(inner)}] : {text} }}") for text in texts)
        while waiting:
            taken = [whole.intersect(alternatives).coalesce() for alternatives in waiting]
            fewest = min(range(len(taken)), key=lambda k: taken[k].n_basic_set())
            whole = taken[fewest]
            del waiting[fewest]
        return whole

    def _point(self, least, writer: _Writer) -> dict[Variable, int]:  # type: ignore[no-untyped-def]
        point = least.sample_point()
        kind = self._isl.dim_type.set
        values = (point.get_coordinate_val(kind, k).to_python() for k in range(len(writer.names)))
        return dict(zip(writer.names, map(int, values), strict=True))

    def _text(self, good) -> str | None:  # type: ignore[no-untyped-def]
        """The union of these basic sets as source text, if it is short."""
        parts = []
        for basic in good:
            if basic.dim(self._isl.dim_type.div):
                return None
            texts = [self._constraint(c) for c in basic.get_constraints()]
            if len(texts) > _GUARD_PARTS:
                return None
            parts.append(" and ".join(sorted(texts)) or "True")
        if not parts or len(parts) > _GUARD_PARTS:
            return None
        return " or ".join(sorted(parts))

    def _constraint(self, constraint) -> str:  # type: ignore[no-untyped-def]
        kind = self._isl.dim_type.param
        names = [constraint.get_dim_name(kind, k) for k in range(constraint.dim(kind))]
        known = {name: variable for variable, name in self._parameters.items()}
        total = IntegerForm.literal(int(constraint.get_constant_val().to_python()))
        for k, name in enumerate(names):
            factor = int(constraint.get_coefficient_val(kind, k).to_python())
            total = total + IntegerForm.of(known[name]) * IntegerForm.literal(factor)
        return _written(total, "==" if constraint.is_equality() else ">=")


def _written(form: IntegerForm, relation: str) -> str:
    """The text of ``form >= 0`` or ``form == 0``, with the negative terms on the other side."""
    left = IntegerForm(tuple((m, k) for m, k in form.terms if k > 0))
    right = IntegerForm(tuple((m, -k) for m, k in form.terms if k < 0))
    if relation == ">=" and left.constant is None and right == IntegerForm.literal(1):
        return f"{left} > 0"
    if relation == ">=" and right.constant is None and left == IntegerForm.literal(-1):
        return f"{right} < 0"
    if relation == ">=" and left.constant is not None and right.terms:
        return f"{right} <= {left}"
    return f"{left} {relation} {right}"


class _Writer:
    """Writes conditions as isl's text; ``parameters`` are the names that parameters have in every text."""

    def __init__(self, parameters: dict[Variable, str] | None = None) -> None:
        self._shared = parameters
        self.names: dict[Variable, str] = {}
        self.affine = True
        self._applied = 0

    def conjunction(self, conditions: Iterable[Condition]) -> tuple[str, ...]:
        """All conditions that are affine: those without alternatives as one text, and each of the others."""
        texts = [t for t in map(self._bounded, conditions) if t is not None]
        several = dict.fromkeys(t for t in texts if " or " in t)
        return (" and ".join(t for t in texts if " or " not in t) or "true", *sorted(several, key=len))

    def _bounded(self, condition: Condition) -> str | None:
        before, self._applied = self._applied, 0
        text = self._condition(condition)
        if self._applied > _APPLIED or before + self._applied > _APPLIED_IN_ALL:
            self.affine, self._applied, text = False, 0, None
        self._applied += before
        return text

    def _condition(self, condition: Condition) -> str | None:
        """The text of a condition; None if it is not affine, so that it says nothing."""
        if isinstance(condition, Comparison):
            try:
                return f"({self._form(condition.form)} {condition.relation.replace('==', '=')} 0)"
            except _NotAffineError:
                self.affine = False
                return None
        parts = [self._condition(p) for p in condition.parts]
        if condition.operator == "and":
            return "(" + (" and ".join(p for p in parts if p is not None) or "true") + ")"
        if any(p is None for p in parts):
            return None
        return "(" + (" or ".join(p for p in parts if p is not None) or "false") + ")"

    def _form(self, form: IntegerForm) -> str:
        return "0" + "".join(self._monomial(m, factor) for m, factor in form.terms)  # isl has no unary plus

    def _monomial(self, monomial: Sequence[Atom], factor: int) -> str:
        if not monomial:
            return f"{factor:+d}"
        if len(monomial) == 1:
            return f"{factor:+d}*{self._atom(monomial[0])}"
        return f"{factor:+d}*{self._opaque(IntegerForm(((tuple(monomial), 1),)))}"

    def _opaque(self, form: IntegerForm) -> str:
        """A form that is not affine but the same in all iterations becomes a parameter of its own."""
        if any(v.kind is not VariableKind.PARAMETER for v in form.variables):
            raise _NotAffineError
        return self._variable(Variable(VariableKind.PARAMETER, str(form) if form.simple else f"({form})"))

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Variable):
            return self._variable(atom)
        operands = atom.operands
        self._applied += atom.operator is not Operator.ELEMENT
        if self._applied > _APPLIED:
            raise _NotAffineError
        match atom.operator:
            case Operator.QUOTIENT | Operator.REMAINDER if (operands[1].constant or 0) > 0:
                divisor = operands[1].constant
                if atom.operator is Operator.QUOTIENT:
                    return f"floor(({self._form(operands[0])})/{divisor})"
                return f"(({self._form(operands[0])}) mod {divisor})"
            case Operator.MINIMUM | Operator.MAXIMUM:
                return f"{atom.operator.value}({', '.join(map(self._form, operands))})"
        return self._opaque(IntegerForm.of(atom))

    def _variable(self, variable: Variable) -> str:
        name = self.names.get(variable)
        if name is None:
            if self._shared is not None and variable.kind is VariableKind.PARAMETER:
                name = self._shared.setdefault(variable, f"q{len(self._shared)}")
            else:
                name = f"v{len(self.names)}"
            self.names[variable] = name
        return name


class _NotAffineError(Exception):
    """A form is not affine."""
