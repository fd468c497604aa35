"""When two iterations meet in an element of an array: one conjunction of conditions over integers.

Theory: the dependence equations of two accesses. Each access has its own copy of the index and of the
variables of inner loops, within their bounds and under their conditions; along every axis both give one
element; the iterations differ. What cannot be said in integers is left free, so that the conditions are
too weak at most: no solution means no dependence. ``exact`` says that they are not too weak.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from dlbrt.records import dataclass

from dlbc.algebra import integer_sets as sets
from dlbc.algebra import smt_solver as solver
from dlbc.algebra.integer_form import (
    Apply,
    Comparison,
    Condition,
    IndexSpace,
    IntegerForm,
    Junction,
    Variable,
    VariableKind,
)
from dlbc.ir.access import Access, InnerLoop, Subscript

ZERO = IntegerForm.literal(0)

#: Turns of an inner loop that a guard has to leave room for.
_FEW = 8
_MOVING = (VariableKind.INDEX, VariableKind.INNER)


@dataclass(frozen=True)
class DependenceProblem:
    """Two accesses in iterations ``first`` and ``second`` reach one element; ``exact`` as above."""

    conditions: tuple[Condition, ...]
    first: Variable
    second: Variable
    element: tuple[Variable, ...]
    exact: bool


class AccessInstance:
    """One of the two accesses: gives its own copies of what differs between iterations."""

    def __init__(self, number: int, written: frozenset[str]) -> None:
        self._mark = "'" * number
        self._written = written
        self._fresh = itertools.count(1)
        self._elements: dict[Apply, Variable] = {}
        self.exact = True

    def of(self, form: IntegerForm) -> IntegerForm:
        """The form in this iteration."""
        return form.replaced(self._own, self._element)

    def new(self, name: str) -> Variable:
        """Another variable of this side."""
        return Variable(VariableKind.INNER, f"{name}{self._mark}", -next(self._fresh))

    def _own(self, variable: Variable) -> IntegerForm:
        if variable.kind is VariableKind.PARAMETER:
            return IntegerForm.of(variable)
        if variable.out_of_scope:
            self.exact = False
        return IntegerForm.of(replace(variable, name=variable.name + self._mark))

    def _element(self, atom: Apply) -> IntegerForm:
        """An element of an array is some integer: always the same where it is fixed and not stored to."""
        steady = not any(_may_share_elements(atom.name, w) for w in self._written)
        if steady and not any(o.depends_on(_MOVING) for o in atom.operands):
            return IntegerForm.of(Variable(VariableKind.PARAMETER, str(atom)))
        self.exact = False
        if not steady:
            return IntegerForm.of(self.new(str(atom)))
        if atom not in self._elements:
            self._elements[atom] = self.new(str(atom))
        return IntegerForm.of(self._elements[atom])

    def condition(self, condition: Condition) -> Condition:
        """The condition in this iteration."""
        if isinstance(condition, Comparison):
            return Comparison(self.of(condition.form), condition.relation)
        return Junction(condition.operator, tuple(map(self.condition, condition.parts)))


def _may_share_elements(array: str, written: str) -> bool:
    return array == written or array.startswith(written + ".") or written.startswith(array + ".")


def dependence_problem(
    one: Access,
    other: Access,
    axes: Sequence[int],
    space: IndexSpace,
    written: frozenset[str],
    wrap: bool = False,
    ordered: bool = False,
    natural: bool = False,
) -> DependenceProblem:
    """Two iterations, of one access each, reach one element as far as ``axes`` tell.

    Equal subscripts reach one element, negative ones too; if ``wrap``, negative ones count from the end as in
    Python. ``natural``: none is negative (for examples). ``ordered``: the first iteration has the smaller
    index (for an access and itself).
    """
    left, right = AccessInstance(1, written), AccessInstance(2, written)
    first, second = (Variable(VariableKind.INDEX, space.index.name + mark) for mark in ("'", "''"))
    conditions = [_apart(first, second, ordered, space.symbolic_step), *space.context]
    for side, access, index in ((left, one, first), (right, other, second)):
        conditions += _executed(access, side, index, space)
    element = tuple(Variable(VariableKind.INNER, f"element {axis}") for axis in axes)
    conditions += [Comparison.at_least(IntegerForm.of(place), ZERO) for place in element if natural]
    for axis, place in zip(axes, element, strict=True):
        for side, access in ((left, one), (right, other)):
            conditions += _reached(access, axis, IntegerForm.of(place), side, wrap)
    exact = left.exact and right.exact and space.exact and one.domain.exact and other.domain.exact
    return DependenceProblem(tuple(conditions), first, second, element, exact)


def _apart(first: Variable, second: Variable, ordered: bool, symbolic_step: IntegerForm | None) -> Condition:
    less = _before(IntegerForm.of(first), IntegerForm.of(second), symbolic_step)
    return (
        less
        if ordered
        else Junction("or", (less, _before(IntegerForm.of(second), IntegerForm.of(first), symbolic_step)))
    )


def _before(one: IntegerForm, other: IntegerForm, symbolic_step: IntegerForm | None) -> Condition:
    """``one`` is less than the other, by a step at least."""
    if symbolic_step is None:
        return Comparison.below(one, other)
    up = Junction(
        "and", (Comparison.below(ZERO, symbolic_step), Comparison.at_least(other - one, symbolic_step))
    )
    down = Junction(
        "and", (Comparison.below(symbolic_step, ZERO), Comparison.at_least(other - one, -symbolic_step))
    )
    return Junction("or", (up, down))


def two_iterations(space: IndexSpace) -> tuple[Condition, ...]:
    """There are two iterations."""
    left, right = AccessInstance(1, frozenset()), AccessInstance(2, frozenset())
    first, second = (Variable(VariableKind.INDEX, space.index.name + mark) for mark in ("'", "''"))
    apart = _apart(first, second, ordered=True, symbolic_step=space.symbolic_step)
    return (apart, *space.context, *_within(space, left, first), *_within(space, right, second))


def many_instances(
    one: Access, other: Access, space: IndexSpace, written: frozenset[str], many: int
) -> tuple[Condition, ...]:
    """Both accesses are executed, in iterations far apart, and inner loops have more than a few turns."""
    left, right = AccessInstance(1, written), AccessInstance(2, written)
    first, second = (Variable(VariableKind.INDEX, space.index.name + mark) for mark in ("'", "''"))
    far = Comparison.at_least(
        IntegerForm.of(second), IntegerForm.of(first) + IntegerForm.literal(many * space.stride)
    )
    conditions = [far, *space.context]
    for side, access, index in ((left, one, first), (right, other, second)):
        conditions += [*_executed(access, side, index, space), *_busy(access, side)]
    return tuple(conditions)


def _busy(access: Access, side: AccessInstance) -> Iterator[Condition]:
    """Its inner loops, as far as their bounds depend on names from outside, have more than a few turns."""
    for inner_loop in access.domain.inner_loops:
        if inner_loop.start is None or inner_loop.stop is None or not inner_loop.step:
            continue
        turns = (inner_loop.stop - inner_loop.start) * IntegerForm.literal(1 if inner_loop.step > 0 else -1)
        if turns.depends_on((VariableKind.PARAMETER,)):
            yield Comparison.at_least(side.of(turns), IntegerForm.literal(_FEW * abs(inner_loop.step)))


def _executed(
    access: Access, side: AccessInstance, index: Variable, space: IndexSpace
) -> Iterator[Condition]:
    yield from _within(space, side, index)
    for inner_loop in access.domain.inner_loops:
        yield from _bound(inner_loop, side)
    for guard in access.domain.guards:
        yield side.condition(guard)


def _within(space: IndexSpace, side: AccessInstance, index: Variable) -> Iterator[Condition]:
    inner_loop = InnerLoop(index, space.start, space.stop, space.step)
    yield from _range(inner_loop, IntegerForm.of(index), side, lambda form: form)


def _bound(inner_loop: InnerLoop, side: AccessInstance) -> Iterator[Condition]:
    yield from _range(inner_loop, side.of(IntegerForm.of(inner_loop.variable)), side, side.of)


def _range(inner_loop: InnerLoop, value: IntegerForm, side: AccessInstance, here) -> Iterator[Condition]:  # type: ignore[no-untyped-def]
    start = None if inner_loop.start is None else here(inner_loop.start)
    stop = None if inner_loop.stop is None else here(inner_loop.stop)
    step = inner_loop.step
    if step is None:
        return
    if start is not None:
        yield Comparison.at_least(value, start) if step > 0 else Comparison.at_least(start, value)
    if stop is not None:
        yield Comparison.below(value, stop) if step > 0 else Comparison.below(stop, value)
    if start is not None and abs(step) > 1:
        yield Comparison.equal(value, start + IntegerForm.of(side.new("step")) * IntegerForm.literal(step))


def _reached(
    access: Access, axis: int, place: IntegerForm, side: AccessInstance, wrap: bool
) -> Iterator[Condition]:
    length = IntegerForm.of(Variable(VariableKind.PARAMETER, f"length {axis} of {access.array}"))
    if wrap:
        yield Comparison.at_least(place, ZERO)
        yield Comparison.below(place, length)
    if axis >= len(access.subscripts):
        return
    subscript = access.subscripts[axis]
    if wrap and not (subscript.integer or subscript.span is not None or subscript.full):
        side.exact = False  # it may be no integer, and nothing will look at it before the loop
    elif subscript.span is not None:
        yield from _sliced(subscript, place, length, side, wrap)
    elif subscript.form is not None:
        yield from _single(side.of(subscript.form), place, length, wrap)
        if not subscript.integer:
            side.exact = False
    elif not subscript.full:
        side.exact = False


def _single(value: IntegerForm, place: IntegerForm, length: IntegerForm, wrap: bool) -> Iterator[Condition]:
    fixed = value.constant
    if fixed is not None and fixed < 0:
        yield Comparison.equal(place, value + length)
    elif wrap and (fixed is None):
        plain = Junction("and", (Comparison.at_least(value, ZERO), Comparison.equal(place, value)))
        ended = Junction("and", (Comparison.below(value, ZERO), Comparison.equal(place, value + length)))
        yield Junction("or", (plain, ended))
    else:
        yield Comparison.equal(place, value)


def _sliced(
    subscript: Subscript, place: IntegerForm, length: IntegerForm, side: AccessInstance, wrap: bool
) -> Iterator[Condition]:
    assert subscript.span is not None
    start, stop, step = subscript.span
    turn = IntegerForm.of(side.new("step")) * IntegerForm.literal(step)

    def begun(begin: IntegerForm) -> Condition:
        reached = Comparison.at_least(place, begin)
        return Junction("and", (reached, Comparison.equal(place, begin + turn))) if step > 1 else reached

    # Counted from the end, it may begin before the axis does, so which steps it takes is not known.
    yield from _cut(ZERO if start is None else side.of(start), length, wrap, begun,
                    lambda begin: Comparison.at_least(place, begin))  # fmt: skip
    side.exact = side.exact and (step == 1 or start is None or (start.constant or 0) >= 0)
    if stop is None:
        yield Comparison.below(place, length)
    else:
        yield from _cut(side.of(stop), length, wrap, *[lambda end: Comparison.below(place, end)] * 2)


def _cut(
    value: IntegerForm,
    length: IntegerForm,
    wrap: bool,
    plain: Callable[[IntegerForm], Condition],
    ended: Callable[[IntegerForm], Condition],
) -> Iterator[Condition]:
    """What is said of an end of a slice, which counts from the axis's end where it is negative."""
    fixed = value.constant
    if fixed is not None:
        yield plain(value) if fixed >= 0 else ended(value + length)
        return
    positive = Junction("and", (Comparison.at_least(value, ZERO), plain(value)))
    negative = Junction("and", (Comparison.below(value, ZERO), ended(value + length)))
    yield Junction("or", (positive, negative)) if wrap else positive


# ------------------------------------------------------------------------------
# The solvers of one run of the compiler, made when they are first needed.


class Provers:
    """Each is None where its package is not installed."""

    @cached_property
    def sets(self) -> sets.IntegerSets | None:
        """Integer sets."""
        return sets.IntegerSets() if sets.available() else None

    @cached_property
    def solver(self) -> solver.SmtSolver | None:
        """Products of integers."""
        return solver.SmtSolver() if solver.available() else None
