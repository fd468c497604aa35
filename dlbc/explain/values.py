"""Numbers that the program fixes before a loop: names that equal literals, and the values of the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlbc.ir.bounds import substitute
from dlbc.ir.form import Comparison, Condition, IntegerForm, Variable
from dlbc.ir.space import IndexSpace

__all__ = ["known_range", "known_values"]


def known_values(
    facts: Sequence[Condition], given: Mapping[Variable, int] | None = None
) -> dict[Variable, int]:
    """Names with their values, by equations that hold before the loop, one after the other.

    Values that are ``given`` go before those that the equations say.
    """
    found = dict(given or {})
    waiting = [f.form for f in facts if isinstance(f, Comparison) and f.relation == "=="]
    waiting = [_with(form, found) for form in waiting]
    while True:
        forms = [_with(form, found) for form in waiting]
        solved = dict(pair for form in forms if (pair := _solved(form)) is not None)
        if not solved:
            return found
        found |= solved
        waiting = [form for form in forms if form.variables]


def _with(form: IntegerForm, numbers: dict[Variable, int]) -> IntegerForm:
    return substitute(form, {v: IntegerForm.literal(value) for v, value in numbers.items()})


def _solved(form: IntegerForm) -> tuple[Variable, int] | None:
    """The variable that the equation ``form == 0`` gives a value, where it is the only one in it."""
    if len(form.variables) != 1:
        return None
    (variable,) = form.variables
    factor = form.coefficient(variable)
    rest = form - IntegerForm.literal(factor or 0) * IntegerForm.of(variable)
    if factor not in (1, -1) or rest.constant is None:
        return None
    return variable, -factor * rest.constant


def known_range(space: IndexSpace) -> range | None:
    """The values of the index in their order, where they are known."""
    numbers = known_values(space.context)
    if space.start is None or space.stop is None or space.step is None or not space.exact:
        return None
    ends = [_with(form, numbers).constant for form in (space.start, space.stop)]
    if ends[0] is None or ends[1] is None:
        return None
    values = range(ends[0], ends[1], space.step)
    return values[::-1] if space.reverse else values
