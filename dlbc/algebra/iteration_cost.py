"""What an iteration costs as a function of the index, and what follows for cutting and folding the loop.

Bitonic folding joins the positions t and n - 1 - t (Zaki, Li and Parthasarathy, section 1.5.3). It balances
where the index cancels in ``W(lo + t) + W(hi - 1 - t)``: that is tested, not whether the work is linear.
Cumulative work is the sum over the first x iterations, a polynomial where the work is one (Faulhaber).
"""

from __future__ import annotations

from enum import Enum

from dlbrt.records import dataclass

from dlbc.algebra.bounds import Assumptions
from dlbc.algebra.integer_form import ZERO, Apply, IndexSpace, IntegerForm, Operator, Variable, VariableKind
from dlbc.algebra.sums import sum_over, trip_count
from dlbc.algebra.work import WorkPolynomial
from dlbc.algebra.work_text import Notation, text_of

#: Terms up to which work is written down.
_MOST_SHOWN = 40


class CostClass(Enum):
    """How the work of an iteration goes with the index."""

    UNIFORM = "uniform"
    LINEAR = "linear"
    POLYNOMIAL = "polynomial"
    PIECEWISE = "piecewise"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Cost:
    """The work W(i) of one iteration, in units of one elementary operation.

    ``work`` is None where it could not be derived, ``why`` says what stood in the way. Where a branch or a
    call is not decided by index and parameters, ``work`` is a mean, ``worst`` the most it can be, and
    ``notes`` say what is estimated; without notes it is exact.
    """

    index: Variable
    work: WorkPolynomial | None
    worst: WorkPolynomial | None = None
    why: str = ""
    notes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the operations are counted, not estimated."""
        return self.work is not None and not self.notes

    @property
    def degree(self) -> int | None:
        """The degree in the index, where it is a polynomial."""
        powers = None if self.work is None else self.work.powers(self.index)
        return None if powers is None else max(powers, default=0)

    @property
    def cost_class(self) -> CostClass:
        """How it goes with the index."""
        if self.work is None:
            return CostClass.UNKNOWN
        match self.degree:
            case None:
                return CostClass.PIECEWISE
            case 0:
                return CostClass.UNIFORM
            case 1:
                return CostClass.LINEAR
        return CostClass.POLYNOMIAL

    @property
    def class_text(self) -> str:
        """The same for people: ``polynomial of degree 2``."""
        return (
            f"{self.cost_class.value} of degree {self.degree}"
            if self.cost_class is CostClass.POLYNOMIAL
            else self.cost_class.value
        )

    @property
    def short(self) -> bool:
        """Whether the expression is one for people to read, and quick to evaluate."""
        return self.work is not None and len(self.work.terms) <= _MOST_SHOWN

    @property
    def pointwise(self) -> bool:
        """Whether it calls a function of the program, which need not take a vector of indices."""
        factors = () if self.work is None else self.work.factors
        return any(_calls(factor) for factor in factors)

    @property
    def text(self) -> str:
        """The work for people; empty where it is not known."""
        return "" if self.work is None else text_of(self.work, self.index)

    @property
    def function(self) -> str:
        """A ``lambda`` over the index, which may be a numpy vector; uniform work stays one number."""
        if self.work is None:
            return ""
        return f"lambda {self.index.name}: {text_of(self.work, self.index, Notation.NUMPY)}"


@dataclass(frozen=True, slots=True)
class FoldLegality:
    """Whether pairs of iterations cost the same, or why not; ``refuted``: they are shown not to."""

    legal: bool
    why: str = ""
    refuted: bool = False


@dataclass(frozen=True)
class Cumulative:
    """Work of the first x iterations, ``x`` from 0 to their number, whatever the loop's start and step."""

    position: Variable
    work: WorkPolynomial

    @property
    def text(self) -> str:
        """It for people."""
        return text_of(self.work, self.position)

    @property
    def function(self) -> str:
        """A ``lambda`` over x, which may be a numpy vector."""
        return f"lambda {self.position.name}: {text_of(self.work, self.position, Notation.NUMPY)}"


def index_range(space: IndexSpace) -> Assumptions:
    """What holds in every iteration: the index lies in its range, and the facts from before the loop."""
    given = Assumptions.of(space.context)
    here, one = IntegerForm.of(space.index), IntegerForm.literal(1)
    if space.step is None:
        return given
    sign = IntegerForm.literal(1 if space.step > 0 else -1)
    first = [] if space.start is None else [sign * (here - space.start)]
    last = [] if space.stop is None else [sign * (space.stop - here) - one]
    return given.extended(*first, *last)


def fold_legality(cost: Cost, space: IndexSpace) -> FoldLegality:
    """Whether the index cancels in the work of the positions t and n - 1 - t together."""
    if cost.work is None:
        return FoldLegality(False, f"the work of an iteration is not known: {cost.why}")
    if space.start is None or space.step is None or space.stop is None:
        return FoldLegality(False, "the first, the last or the distance of the iterations is not known")
    position = _position(cost.work, space)
    here = IntegerForm.literal(space.step) * IntegerForm.of(position)
    up = cost.work.replaced({space.index: space.start + here})
    down = cost.work.replaced({space.index: _last(space.start, space.stop, space.step) - here})
    powers = (up + down).powers(position)
    if powers is None:
        return FoldLegality(False, f"the work of a pair is piecewise in {space.name}")
    if max(powers, default=0) > 0:
        why = f"{space.name} does not cancel in the work of a pair: it is {cost.class_text}"
        return FoldLegality(False, why, refuted=True)
    return FoldLegality(True)


def cumulative(cost: Cost, space: IndexSpace) -> Cumulative | None:
    """The work of the first x iterations, where it is a polynomial."""
    start, step = space.start, space.step
    if cost.work is None or cost.degree is None or start is None or step is None:
        return None
    if space.reverse:
        if space.stop is None:
            return None
        start, step = _last(start, space.stop, step), -step
    position = _position(cost.work, space)
    work = sum_over(cost.work, space.index, start, IntegerForm.literal(step), IntegerForm.of(position))
    return Cumulative(position, work)


def _last(start: IntegerForm, stop: IntegerForm, step: int) -> IntegerForm:
    """The last value of the index, if there is one."""
    count = trip_count(start, stop, IntegerForm.literal(step), clamped=False)
    assert count is not None  # the step is a literal
    return start + IntegerForm.literal(step) * (count - IntegerForm.literal(1))


def _position(work: WorkPolynomial, space: IndexSpace) -> Variable:
    """A name for the position of an iteration that nothing else has."""
    taken = {v.name for v in work.variables} | {space.name}
    taken |= {v.name for form in (space.start, space.stop) if form is not None for v in form.variables}
    name = "x"
    while name in taken:
        name += "_"
    return Variable(VariableKind.INDEX, name)


def _calls(factor: object) -> bool:
    form = getattr(factor, "form", None) or (IntegerForm.of(factor) if isinstance(factor, Apply) else ZERO)
    return any(
        isinstance(atom, Apply)
        and (atom.operator is Operator.CALL or any(_calls(a) for o in atom.operands for a in o.atoms))
        for atom in form.atoms
    )
