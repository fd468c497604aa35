"""What an iteration costs as a function of the index, and whether the loop may be folded.

Bitonic folding joins the positions t and n - 1 - t (Zaki, Li and Parthasarathy, section 1.5.3). It balances
where the index cancels in ``W(lo + t) + W(hi - 1 - t)``. The test looks for this, not for linear work.
"""

from __future__ import annotations

from enum import Enum

from dlbrt.records import dataclass

from dlbc.algebra.bounds import Assumptions
from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import ZERO, Apply, IntegerForm, Operator, Variable, VariableKind
from dlbc.algebra.sums import trip_count
from dlbc.algebra.work import WorkPolynomial
from dlbc.algebra.work_text import text_of

#: Work with more terms is not shown.
_MOST_SHOWN = 40


class CostClass(Enum):
    """How the work of an iteration varies with the index."""

    UNIFORM = "uniform"
    LINEAR = "linear"
    POLYNOMIAL = "polynomial"
    PIECEWISE = "piecewise"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Cost:
    """The work W(i) of one iteration, in units of one elementary operation.

    ``work`` is None if it could not be derived; ``why`` then gives the reason. Where index and parameters do
    not decide a branch or a call, ``work`` is a mean, ``worst`` an upper bound, and ``notes`` say what is
    estimated. Without notes the work is exact.
    """

    index: Variable
    work: WorkPolynomial | None
    worst: WorkPolynomial | None = None
    why: str = ""
    notes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the operations are counted rather than estimated."""
        return self.work is not None and not self.notes

    @property
    def degree(self) -> int | None:
        """The degree in the index; None if the work is not a polynomial in it."""
        powers = None if self.work is None else self.work.powers(self.index)
        return None if powers is None else max(powers, default=0)

    @property
    def cost_class(self) -> CostClass:
        """How the work varies with the index."""
        if self.work is None:
            return CostClass.UNKNOWN
        if self.degree is None:
            return CostClass.PIECEWISE
        return {0: CostClass.UNIFORM, 1: CostClass.LINEAR}.get(self.degree, CostClass.POLYNOMIAL)

    @property
    def class_text(self) -> str:
        """The cost class for people: ``polynomial of degree 2``."""
        degree = f" of degree {self.degree}" if self.cost_class is CostClass.POLYNOMIAL else ""
        return self.cost_class.value + degree

    @property
    def short(self) -> bool:
        """Whether the expression is short enough to read, and quick to evaluate."""
        return self.work is not None and len(self.work.terms) <= _MOST_SHOWN

    @property
    def pointwise(self) -> bool:
        """Whether it calls a function of the program, which may not accept a vector of indices."""
        factors = () if self.work is None else self.work.factors
        return any(_calls(factor) for factor in factors)

    @property
    def text(self) -> str:
        """The work for people; empty if it is not known."""
        return "" if self.work is None else text_of(self.work, self.index)


@dataclass(frozen=True, slots=True)
class FoldLegality:
    """Whether pairs of iterations cost the same, or why not; ``refuted``: they provably do not."""

    legal: bool
    why: str = ""
    refuted: bool = False


def index_range(space: IndexSpace) -> Assumptions:
    """What holds in every iteration: the index lies in its range, and the context of the loop."""
    given = Assumptions.of(space.context)
    here, one = IntegerForm.of(space.index), IntegerForm.literal(1)
    if space.step is None:
        return given
    sign = IntegerForm.literal(1 if space.step > 0 else -1)
    first = [] if space.start is None else [sign * (here - space.start)]
    last = [] if space.stop is None else [sign * (space.stop - here) - one]
    return given.extended(*first, *last)


def fold_legality(cost: Cost, space: IndexSpace) -> FoldLegality:
    """Whether the index cancels in the sum of the work at the positions t and n - 1 - t."""
    if cost.work is None:
        return FoldLegality(False, f"the work of an iteration is not known: {cost.why}")
    if space.start is None or space.step is None or space.stop is None:
        return FoldLegality(False, "the first, the last or the distance of the iterations is not known")
    position, step = _position(cost.work, space), IntegerForm.literal(space.step)
    here = step * IntegerForm.of(position)
    count = trip_count(space.start, space.stop, step, clamped=False)
    assert count is not None  # the step is a literal
    last = space.start + step * (count - IntegerForm.literal(1))
    up = cost.work.replaced({space.index: space.start + here})
    down = cost.work.replaced({space.index: last - here})
    powers = (up + down).powers(position)
    if powers is None:
        return FoldLegality(False, f"the work of a pair is piecewise in {space.name}")
    if max(powers, default=0) > 0:
        why = f"{space.name} does not cancel in the work of a pair: it is {cost.class_text}"
        return FoldLegality(False, why, refuted=True)
    return FoldLegality(True)


def _position(work: WorkPolynomial, space: IndexSpace) -> Variable:
    """A variable for the position of an iteration, with a name that is not in use."""
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
