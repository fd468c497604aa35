"""When two iterations meet in an element of an array: one conjunction of conditions over integers.

Theory: the dependence equations of two accesses. Each access has its own copy of the index and of the
variables of inner loops, within their bounds and under their conditions; along every axis both accesses
reach the same element; the iterations differ. What integers cannot express is left free, so the conditions
can only be too weak: no solution means no dependence. ``exact`` says that they are not too weak. Subscripts
with products are delinearised (`dlbc.algebra.delinearize`): what their equality implies without products is
added.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from dlbrt.records import dataclass

from dlbc.algebra import integer_sets as sets
from dlbc.algebra import smt_solver as solver
from dlbc.algebra.delinearize import (
    Division,
    is_linear,
    is_negative,
    signs,
    steady_products,
    vanishes,
)
from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import (
    ZERO,
    Apply,
    Comparison,
    Condition,
    IntegerForm,
    Junction,
    Operator,
    Variable,
    VariableKind,
)
from dlbc.analysis.access_instance import AccessInstance
from dlbc.ir.access import Access, InnerLoop, Subscript

#: Iterations of an inner loop that a guard has to leave room for.
_FEW = 8

_Copy = Callable[[IntegerForm], IntegerForm]
_Bound = Callable[[IntegerForm], Condition]


#: From an alias to the name whose memory it denotes, and the shift of its subscripts on axis 0; the shift is
#: None where the offset into the array is unknown.
Aliases = Mapping[str, tuple[str, IntegerForm | None]]


@dataclass(frozen=True)
class DependenceProblem:
    """Two accesses in iterations ``first`` and ``second`` reach one element; ``exact`` as above."""

    conditions: tuple[Condition, ...]
    first: Variable
    second: Variable
    element: tuple[Variable, ...]
    exact: bool


def _instances(
    space: IndexSpace, written: frozenset[str] = frozenset()
) -> tuple[AccessInstance, AccessInstance]:
    return AccessInstance(1, space, written), AccessInstance(2, space, written)


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
    sides = ((left, one), (right, other))
    conditions = [_apart(left, right, space, ordered=ordered), *space.context]
    for side, access in sides:
        conditions += _executed(access, side, space)
    element = tuple(Variable(VariableKind.INNER, f"element {axis}") for axis in axes)
    conditions += [Comparison.at_least(IntegerForm.of(place), ZERO) for place in element if natural]
    for axis, place in zip(axes, element, strict=True):
        for side, access in sides:
            conditions += _reached(access, axis, IntegerForm.of(place), side, wrap)
        conditions += _met([_Place(access, axis, side) for side, access in sides], wrap)
    conditions += _known(left, right, space)
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


def both_executed(
    one: Access, other: Access, space: IndexSpace, written: frozenset[str], apart: int = 1, busy: bool = False
) -> tuple[Condition, ...]:
    """Both accesses are executed, in iterations that are ``apart``; ``busy``: a number of times in each."""
    left, right = _instances(space, written)
    distance = IntegerForm.of(right.index) - IntegerForm.of(left.index)
    conditions = [Comparison.at_least(distance, IntegerForm.literal(apart * space.stride)), *space.context]
    for side, access in ((left, one), (right, other)):
        conditions += [*_executed(access, side, space), *(_busy(access, side) if busy else ())]
    if busy:
        conditions += _wide([*left.divisions, *right.divisions], space)
    return (*conditions, *_known(left, right, space))


def _wide(divisions: Sequence[Division], space: IndexSpace) -> Iterator[Condition]:
    """Strides, and the factors of the number of iterations, are more than a few."""
    strides = [*(d.stride for d in divisions), *([space.symbolic_step] if space.symbolic_step else [])]
    yield from (Comparison.at_least(stride, IntegerForm.literal(_FEW)) for stride in strides)
    for product, one, other in steady_products(_bounds(space)):
        for factor in (one, other):
            yield Comparison.at_least(factor, IntegerForm.literal(_FEW))
            yield Comparison.at_least(product, factor * IntegerForm.literal(_FEW))


def _bounds(space: IndexSpace) -> list[IntegerForm]:
    return [bound for bound in (space.start, space.stop) if bound is not None]


def _busy(access: Access, side: AccessInstance) -> Iterator[Condition]:
    """Its inner loops and slices whose bounds depend on names from outside have more than a few turns.

    Reading the subscripts makes their divisions known.
    """
    for form in (form for s in access.subscripts for form in s.forms):
        side.of(form)
    loops = [(loop.start, loop.stop, loop.step) for loop in access.domain.inner_loops]
    for start, stop, step in (*loops, *(s.span for s in access.subscripts if s.span is not None)):
        if start is None or stop is None or not step:
            continue
        turns = (stop - start) * IntegerForm.literal(1 if step > 0 else -1)
        if turns.depends_on((VariableKind.PARAMETER,)):
            yield Comparison.at_least(side.of(turns), IntegerForm.literal(_FEW * abs(step)))


def _executed(access: Access, side: AccessInstance, space: IndexSpace) -> Iterator[Condition]:
    yield from _within(space, side)
    for inner_loop in access.domain.inner_loops:
        yield from _turned(inner_loop, side)
    for guard in access.domain.guards:
        yield side.condition(guard)


def _turned(inner_loop: InnerLoop, side: AccessInstance) -> Iterator[Condition]:
    """The values of the variable of an inner loop, counted from its start where that has products."""
    variable, start = inner_loop.variable, None if inner_loop.start is None else side.of(inner_loop.start)
    step = inner_loop.symbolic_step
    if start is None or (step is None and (is_linear(start) or inner_loop.step is None)):
        yield from _range(inner_loop, side.of(IntegerForm.of(variable)), side, side.of)
        return
    stride = IntegerForm.literal(inner_loop.step or 0) if step is None else side.of(step)
    turn = side.count(variable, start, stride)
    yield Comparison.at_least(turn, ZERO)
    if inner_loop.stop is not None and inner_loop.step is not None:
        up = inner_loop.step > 0
        for end in _ends(side.of(inner_loop.stop), Operator.MINIMUM if up else Operator.MAXIMUM):
            length = end - start if up else start - end
            yield Comparison.below(turn * (stride if up else -stride), length)


def _ends(form: IntegerForm, operator: Operator) -> tuple[IntegerForm, ...]:
    """The bounds that one bound consists of: those in a minimum (maximum), or itself."""
    atom = next(form.atoms, None)
    alone = isinstance(atom, Apply) and atom.operator is operator and form == IntegerForm.of(atom)
    return atom.operands if alone and isinstance(atom, Apply) else (form,)


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
    length = IntegerForm.of(Variable.length(axis, access.array))
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


class _Place:
    """The place on one axis that an access reaches, as one form; None where it is not known."""

    def __init__(self, access: Access, axis: int, side: AccessInstance) -> None:
        subscript = access.subscripts[axis] if axis < len(access.subscripts) else Subscript("")
        self.sure = subscript.integer or subscript.span is not None
        self.value = None if subscript.form is None else side.of(subscript.form)
        self.limits: list[Condition] = []
        self.ends = [] if self.value is None else [self.value]
        if subscript.span is not None:
            self._sliced(subscript.span, side)

    def _sliced(self, span: tuple[IntegerForm | None, IntegerForm | None, int], side: AccessInstance) -> None:
        start, stop, step = span
        begin = ZERO if start is None else side.of(start)
        turn = IntegerForm.of(side.new("step")) * IntegerForm.literal(step)
        self.value, self.ends = begin + turn, [begin]
        self.limits = [Comparison.at_least(turn, ZERO)]
        if stop is not None:
            end = side.of(stop)
            self.ends.append(end)
            self.limits += [Comparison.below(turn, e - begin) for e in _ends(end, Operator.MINIMUM)]

    @property
    def plain(self) -> bool:
        """Whether no end is a literal that counts from the end of the axis."""
        return all((end.constant or 0) >= 0 for end in self.ends)


def _met(places: Sequence[_Place], wrap: bool) -> Iterator[Condition]:
    """What equal places have in common if they have products; under ``wrap`` they may count from the end."""
    one, other = places
    if one.value is None or other.value is None or not (one.plain and other.plain):
        return
    difference = one.value - other.value
    if is_linear(difference) or (wrap and not (one.sure and other.sure)):
        return
    equal = Junction("and", (vanishes(difference), *one.limits, *other.limits))
    ended = [is_negative(end) for end in (*one.ends, *other.ends)] if wrap else []
    yield Junction("or", (equal, *ended))


def _known(left: AccessInstance, right: AccessInstance, space: IndexSpace) -> Iterator[Condition]:
    """What is known of products, of quotients and remainders, and of any two of these with one divisor."""
    bounds = _bounds(space)
    yield from signs(bounds)
    divisions = [*left.divisions, *right.divisions]
    for division in divisions:
        yield from division.conditions(bounds)
    for one, other in itertools.combinations(divisions, 2):
        if one.stride == other.stride:
            yield from one.compared(other)


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
