"""When two iterations meet in an element of an array: one conjunction of conditions over integers.

Theory: the dependence equations of two accesses. Each access has its own copy of the index and of the
variables of inner loops, within their bounds and under their conditions; along every axis both accesses reach
the same element; the iterations differ. What integers cannot express is left free, so the conditions can only
be too weak: no solution means no dependence. ``exact`` says that they are not too weak.
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
    ZERO,
    Apply,
    Comparison,
    Condition,
    IndexSpace,
    IntegerForm,
    Junction,
    Variable,
    VariableKind,
)
from dlbc.ir.access import Access, InnerLoop, Subscript, is_part

#: Iterations of an inner loop that a guard has to leave room for.
_FEW = 8
_MOVING = (VariableKind.INDEX, VariableKind.INNER)

_Copy = Callable[[IntegerForm], IntegerForm]
_Bound = Callable[[IntegerForm], Condition]


@dataclass(frozen=True)
class DependenceProblem:
    """Two accesses in iterations ``first`` and ``second`` reach one element; ``exact`` as above."""

    conditions: tuple[Condition, ...]
    first: Variable
    second: Variable
    element: tuple[Variable, ...]
    exact: bool


class AccessInstance:
    """One of two accesses, with its own copies of everything that differs between iterations."""

    def __init__(self, number: int, space: IndexSpace, written: frozenset[str]) -> None:
        self._mark = "'" * number
        self.index = Variable(VariableKind.INDEX, space.index.name + self._mark)
        self._written = written
        self._fresh = itertools.count(1)
        self._elements: dict[Apply, Variable] = {}
        self.exact = True

    def of(self, form: IntegerForm) -> IntegerForm:
        """The form in this iteration."""
        return form.replaced(self._own, self._element)

    def new(self, name: str) -> Variable:
        """A new variable of this instance."""
        return Variable(VariableKind.INNER, f"{name}{self._mark}", -next(self._fresh))

    def _own(self, variable: Variable) -> IntegerForm:
        if variable.kind is VariableKind.PARAMETER:
            return IntegerForm.of(variable)
        if variable.out_of_scope:
            self.exact = False
        return IntegerForm.of(replace(variable, name=variable.name + self._mark))

    def _element(self, atom: Apply) -> IntegerForm:
        """An element of an array is some integer: always the same if its place is fixed and not stored to."""
        steady = not any(_may_share_elements(atom.name, w) for w in self._written)
        if steady and not any(o.depends_on(_MOVING) for o in atom.operands):
            return IntegerForm.parameter(str(atom))
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


def _instances(
    space: IndexSpace, written: frozenset[str] = frozenset()
) -> tuple[AccessInstance, AccessInstance]:
    return AccessInstance(1, space, written), AccessInstance(2, space, written)


def _may_share_elements(array: str, written: str) -> bool:
    return array == written or is_part(array, written) or is_part(written, array)


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
    """Two iterations reach the same element, by one access each, as far as ``axes`` tell.

    Equal subscripts reach the same element, negative subscripts too; with ``wrap``, negative subscripts count
    from the end as in Python. ``natural``: no subscript is negative (for examples). ``ordered``: the first
    iteration has the smaller index (for an access and itself).
    """
    left, right = _instances(space, written)
    conditions = [_apart(left, right, space, ordered=ordered), *space.context]
    for side, access in ((left, one), (right, other)):
        conditions += _executed(access, side, space)
    element = tuple(Variable(VariableKind.INNER, f"element {axis}") for axis in axes)
    conditions += [Comparison.at_least(IntegerForm.of(place), ZERO) for place in element if natural]
    for axis, place in zip(axes, element, strict=True):
        for side, access in ((left, one), (right, other)):
            conditions += _reached(access, axis, IntegerForm.of(place), side, wrap)
    exact = left.exact and right.exact and space.exact and one.domain.exact and other.domain.exact
    return DependenceProblem(tuple(conditions), left.index, right.index, element, exact)


def _apart(left: AccessInstance, right: AccessInstance, space: IndexSpace, *, ordered: bool) -> Condition:
    first, second = IntegerForm.of(left.index), IntegerForm.of(right.index)
    less = _before(first, second, space.symbolic_step)
    return less if ordered else Junction("or", (less, _before(second, first, space.symbolic_step)))


def _before(one: IntegerForm, other: IntegerForm, step: IntegerForm | None) -> Condition:
    """``one`` is less than the other, at least by a symbolic step if there is one."""
    if step is None:
        return Comparison.below(one, other)
    up = Junction("and", (Comparison.below(ZERO, step), Comparison.at_least(other - one, step)))
    down = Junction("and", (Comparison.below(step, ZERO), Comparison.at_least(other - one, -step)))
    return Junction("or", (up, down))


def two_iterations(space: IndexSpace) -> tuple[Condition, ...]:
    """There are at least two iterations."""
    left, right = _instances(space)
    apart = _apart(left, right, space, ordered=True)
    return (apart, *space.context, *_within(space, left), *_within(space, right))


def many_instances(
    one: Access, other: Access, space: IndexSpace, written: frozenset[str], many: int
) -> tuple[Condition, ...]:
    """Both accesses run, in iterations far apart, and inner loops have more than a few iterations."""
    left, right = _instances(space, written)
    distance = IntegerForm.of(right.index) - IntegerForm.of(left.index)
    conditions = [Comparison.at_least(distance, IntegerForm.literal(many * space.stride)), *space.context]
    for side, access in ((left, one), (right, other)):
        conditions += [*_executed(access, side, space), *_busy(access, side)]
    return tuple(conditions)


def _busy(access: Access, side: AccessInstance) -> Iterator[Condition]:
    """Its inner loops whose bounds depend on names from outside have more than a few iterations."""
    for inner_loop in access.domain.inner_loops:
        if inner_loop.start is None or inner_loop.stop is None or not inner_loop.step:
            continue
        turns = (inner_loop.stop - inner_loop.start) * IntegerForm.literal(1 if inner_loop.step > 0 else -1)
        if turns.depends_on((VariableKind.PARAMETER,)):
            yield Comparison.at_least(side.of(turns), IntegerForm.literal(_FEW * abs(inner_loop.step)))


def _executed(access: Access, side: AccessInstance, space: IndexSpace) -> Iterator[Condition]:
    yield from _within(space, side)
    for inner_loop in access.domain.inner_loops:
        yield from _range(inner_loop, side.of(IntegerForm.of(inner_loop.variable)), side, side.of)
    for guard in access.domain.guards:
        yield side.condition(guard)


def _within(space: IndexSpace, side: AccessInstance) -> Iterator[Condition]:
    loop = InnerLoop(side.index, space.start, space.stop, space.step)
    yield from _range(loop, IntegerForm.of(side.index), side, lambda form: form)


def _range(inner: InnerLoop, value: IntegerForm, side: AccessInstance, here: _Copy) -> Iterator[Condition]:
    start = None if inner.start is None else here(inner.start)
    stop = None if inner.stop is None else here(inner.stop)
    step = inner.step
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
    length = IntegerForm.parameter(f"length {axis} of {access.array}")
    if wrap:
        yield Comparison.at_least(place, ZERO)
        yield Comparison.below(place, length)
    if axis >= len(access.subscripts):
        return
    subscript = access.subscripts[axis]
    if wrap and not (subscript.integer or subscript.span is not None or subscript.full):
        side.exact = False  # it may not be an integer, and no inspector looks at it before the loop
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

    # A start counted from the end may lie before the axis begins; then the steps are not known.
    begin = ZERO if start is None else side.of(start)
    yield from _cut(begin, length, wrap, begun, lambda begin: Comparison.at_least(place, begin))
    side.exact = side.exact and (step == 1 or start is None or (start.constant or 0) >= 0)
    if stop is None:
        yield Comparison.below(place, length)
    else:
        yield from _cut(side.of(stop), length, wrap, *[lambda end: Comparison.below(place, end)] * 2)


def _cut(
    value: IntegerForm, length: IntegerForm, wrap: bool, plain: _Bound, ended: _Bound
) -> Iterator[Condition]:
    """The condition for one end of a slice; a negative end counts from the end of the axis."""
    fixed = value.constant
    if fixed is not None:
        yield plain(value) if fixed >= 0 else ended(value + length)
        return
    positive = Junction("and", (Comparison.at_least(value, ZERO), plain(value)))
    negative = Junction("and", (Comparison.below(value, ZERO), ended(value + length)))
    yield Junction("or", (positive, negative)) if wrap else positive


class Provers:
    """The solvers of one run of the compiler, made when first needed; None if a package is missing."""

    @cached_property
    def sets(self) -> sets.IntegerSets | None:
        """The solver for affine conditions."""
        return sets.IntegerSets() if sets.available() else None

    @cached_property
    def solver(self) -> solver.SmtSolver | None:
        """The solver for products of integers."""
        return solver.SmtSolver() if solver.available() else None
