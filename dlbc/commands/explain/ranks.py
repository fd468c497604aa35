"""The efficiency of distributions of a loop on P ranks, if its iterations and their work are known.

The efficiency is T(1) / T(P) over the sum of the speeds (Ciegis et al., section 2), without communication:
the ideal time over that of the slowest rank. For equal tasks it has a closed form (section 2.1), and by their
Remark 1 fewer ranks may take the same time. Other work is summed over the iterations, and dealt by the same
functions as when the program runs. The numbers that the program fixes before a loop are names that equal
literals; from them follow the values of the index.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.contract import LAST, TRIAL, Distribution, OptionError
from dlbrt.records import dataclass

from dlbc.algebra.bounds import substitute
from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import Comparison, Condition, IntegerForm, Variable, VariableKind
from dlbc.algebra.iteration_cost import Cost, CostClass
from dlbc.algebra.work_text import Notation, text_of
from dlbc.cost.evaluate import Evaluated, function_of
from dlbc.cost.evaluate_expressions import Names
from dlbc.ir.plan import FoldDecision, LoopReport

if TYPE_CHECKING:
    from dlbrt.partition.known import KnownWork


def known_values(
    facts: Sequence[Condition], given: Mapping[Variable, int] | None = None
) -> dict[Variable, int]:
    """Names with their values, by solving the equations that hold before the loop, one after the other.

    ``given`` values take precedence over the equations. It ends, since each turn solves for another variable.
    """
    values = dict(given or {})
    equations = [f.form for f in facts if isinstance(f, Comparison) and f.relation == "=="]
    while True:
        forms = [_with(form, values) for form in equations]
        solved = dict(pair for form in forms if (pair := _solved(form)) is not None)
        if not solved:
            return values
        values |= solved
        equations = [form for form in forms if form.variables]


def _with(form: IntegerForm, numbers: dict[Variable, int]) -> IntegerForm:
    return substitute(form, {v: IntegerForm.literal(value) for v, value in numbers.items()})


def _solved(form: IntegerForm) -> tuple[Variable, int] | None:
    """The only variable of the equation ``form == 0`` and its value, if it has a whole one."""
    if len(form.variables) != 1:
        return None
    (variable,) = form.variables
    factor = form.coefficient(variable)
    rest = form - IntegerForm.literal(factor or 0) * IntegerForm.of(variable)
    if factor not in (1, -1) or rest.constant is None:
        return None
    return variable, -factor * rest.constant


def known_range(space: IndexSpace) -> range | None:
    """The values of the index in their order, if they are known."""
    numbers = known_values(space.context)
    if space.start is None or space.stop is None or space.step is None or not space.exact:
        return None
    ends = [_with(form, numbers).constant for form in (space.start, space.stop)]
    if ends[0] is None or ends[1] is None:
        return None
    values = range(ends[0], ends[1], space.step)
    return values[::-1] if space.reverse else values


#: Work is summed over at most this number of iterations.
MOST_SUMMED = 10_000_000

#: Iterations are dealt to at most this number of ranks; for more there are only formulas.
_MOST_RANKS = 4096

#: `len` of a longer `range` fails.
_MOST_DEALT = 2**63 - 1

_EVALUATED = "the given cost is evaluated when the program runs"


@dataclass(frozen=True, slots=True)
class RankSpec:
    """A number of ranks; ``weights`` are their relative speeds, if known."""

    count: int
    weights: tuple[float, ...] | None = None


def read_ranks(count: int | None, weights: str | None) -> RankSpec | None:
    """The ranks of the command line; OptionError for a malformed list, or one of another length."""
    if weights is None:
        return None if count is None else RankSpec(count)
    from dlbrt.emulation import parse_weights

    if weights.strip() in (LAST, TRIAL):
        found = f"`{weights.strip()}`, which is for `dlbc run`"
        raise OptionError(f"--weights: expected a relative speed for each rank, as in 1,1.5; found {found}")
    count = count or weights.count(",") + 1
    return RankSpec(count, parse_weights(weights, count))


@dataclass(frozen=True, slots=True)
class _Estimate:
    """One way to deal the loop: its efficiency, and the slowest rank's time over the ideal time."""

    name: str
    efficiency: float
    largest: float


@dataclass(frozen=True, slots=True)
class _Answer:
    """The estimates for one loop, or ``why`` there are none.

    ``iterations`` is their number, if known; ``fewest`` is the smallest number of ranks that take the same
    time.
    """

    iterations: int | None
    why: str = ""
    estimates: tuple[_Estimate, ...] = ()
    fewest: int | None = None


def describe_ranks(report: LoopReport, ranks: RankSpec) -> Iterator[tuple[str, str]]:
    """Rows: a way to deal the iterations, and its efficiency; or why that is not known."""
    answer = _answer(report, ranks)
    if answer.why:
        yield "", answer.why
        if answer.iterations is None and _is_uniform(report) and ranks.weights is None:
            yield from _formula(ranks.count)
        return
    for estimate in answer.estimates:
        slowest = f"the slowest rank takes {estimate.largest:.3f} of the ideal time"
        yield estimate.name, f"efficiency {estimate.efficiency:.1%}, {slowest}"
    if answer.fewest not in (None, ranks.count):
        yield "", f"{answer.fewest} of the {ranks.count} ranks take the same time"


def ranks_as_json(report: LoopReport, ranks: RankSpec) -> dict[str, Any]:
    """The same for JSON."""
    answer = _answer(report, ranks)
    return {
        "ranks": ranks.count,
        "weights": ranks.weights,
        "iterations": answer.iterations,
        "why": answer.why,
        "estimates": [
            {"distribution": e.name, "efficiency": e.efficiency, "largest_over_ideal": e.largest}
            for e in answer.estimates
        ],
        "fewest_ranks": answer.fewest,
    }


def _answer(report: LoopReport, ranks: RankSpec) -> _Answer:
    from dlbrt.partition.cost_spec import CostError

    values = None if report.space is None else known_range(report.space)
    if values is None:
        return _Answer(None, "the number of iterations is not known before the program runs")
    n = _length(values)
    if why := _unknown(report, n, ranks):
        return _Answer(n, why)
    try:
        estimates = _estimates(report, values, ranks)
    except CostError as error:
        return _Answer(n, f"{error}; iterations are assumed to cost the same until measured")
    return _Answer(n, "", estimates, _fewest(report, n, ranks))


def _length(values: range) -> int:
    """The number of values, even if `len` fails."""
    return (values[-1] - values[0]) // values.step + 1 if values else 0


def _is_uniform(report: LoopReport) -> bool:
    return report.partition_cost is not None and report.partition_cost.cost_class is CostClass.UNIFORM


def _unknown(report: LoopReport, n: int, ranks: RankSpec) -> str:
    """Why there can be no estimate; empty if there can."""
    if not n:
        return "there are no iterations"
    if n > _MOST_DEALT:
        return f"not dealt, {n} iterations are more than {_MOST_DEALT}"
    given = report.loop.annotation.cost is not None
    if report.partition_cost is None or report.partition_cost.work is None:
        return _EVALUATED if given else "the cost of an iteration is not known before the program runs"
    by_formula = _is_uniform(report) and ranks.weights is None
    if ranks.count > _MOST_RANKS and not by_formula:
        return f"not dealt, {ranks.count} ranks are more than {_MOST_RANKS}"
    if _is_uniform(report):
        return ""
    if n > MOST_SUMMED:
        return f"not summed, {n} iterations are more than {MOST_SUMMED}"
    if _function(report, report.partition_cost) is None:
        depends = "the cost of an iteration depends on more than the index and known numbers"
        return _EVALUATED if given else depends
    return ""


def _formula(ranks: int) -> Iterator[tuple[str, str]]:
    from dlbrt.partition.proportional import product_bound

    text = f"efficiency n/({ranks}*ceil(n/{ranks})) for n iterations"
    yield "equal parts", f"{text}, at least {product_bound(1, ranks):.1%} for more than {ranks}"


def _estimates(report: LoopReport, values: range, ranks: RankSpec) -> tuple[_Estimate, ...]:
    from dlbrt.partition.proportional import product_efficiency

    if ranks.count > _MOST_RANKS:
        efficiency = product_efficiency(_length(values), ranks.count)
        return (_Estimate("equal parts", efficiency, 1 / efficiency),)
    return tuple(_Dealing(report, values, ranks).all())


@dataclass(frozen=True, slots=True)
class _Dealing:
    """The ways to deal one loop."""

    report: LoopReport
    values: range
    ranks: RankSpec

    def all(self) -> Iterator[_Estimate]:
        """The ways worth comparing; the last one is what the program does."""
        work, weights, plan = self._work(), self.ranks.weights, self.report.plan
        yield self._dealt("equal parts", work)
        if weights:
            yield self._dealt("parts by weight", work, weights)
        yield self._dealt("in turn", work, weights, Distribution.CYCLIC)
        last = []
        if work is not None:
            last += [self._dealt("parts of equal work", work, weights, cut_by=work)]
        if plan is not None and plan.fold_decision is not FoldDecision.NO:
            pairs = self._dealt("pairs", work, weights, plan.iterations, folded=True)
            last.insert(0 if plan.unfolds_for else len(last), pairs)
        yield from last

    def _work(self) -> KnownWork | None:
        from dlbrt.data.footprint import IndexMap
        from dlbrt.partition.cost_spec import CostSpec
        from dlbrt.partition.costs import evaluate_cost

        cost = self.report.partition_cost
        if cost is None or cost.cost_class is CostClass.UNIFORM:
            return None
        index = IndexMap(self.values.start, self.values.step)
        spec = CostSpec(density=_function(self.report, cost))
        return evaluate_cost(spec, len(self.values), index, lambda: iter(self.values))

    def _dealt(
        self,
        name: str,
        work: KnownWork | None,
        weights: tuple[float, ...] | None = None,
        distribution: Distribution = Distribution.BLOCK,
        cut_by: KnownWork | None = None,
        *,
        folded: bool = False,
    ) -> _Estimate:
        from dlbrt.data.work_table import Units
        from dlbrt.partition.initial import deal, expected

        units = Units(0, len(self.values), folded)
        shares = deal(len(units), self.ranks.count, distribution, weights=weights, work=cut_by)
        loss = expected([units.positions(share) for share in shares], work, self.ranks.weights).loss
        return _Estimate(name, 1 / (1 + loss), 1 + loss)


def _function(report: LoopReport, cost: Cost) -> Evaluated | None:
    """The work as a function of a vector of index values, if it depends on the index alone."""
    if cost.work is None or report.space is None or cost.work.elements or cost.pointwise:
        return None
    numbers = known_values(report.space.context)
    work = cost.work.replaced({variable: IntegerForm.literal(value) for variable, value in numbers.items()})
    if any(v.kind is not VariableKind.INDEX for v in work.variables) or not cost.short:
        return None
    numpy = "np" if cost.index.name != "np" else "numpy"
    text = text_of(work, cost.index, Notation.NUMPY, numpy)
    return function_of((cost.index.name,), ast.parse(text, mode="eval").body, Names(modules={numpy: "numpy"}))


def _fewest(report: LoopReport, n: int, ranks: RankSpec) -> int | None:
    """The smallest number of ranks that take no longer than all of them, if tasks and ranks are equal."""
    from dlbrt.partition.proportional import fewest_processors

    plan = report.plan
    folded = plan is not None and plan.fold_decision is not FoldDecision.NO and not plan.unfolds_for
    if ranks.weights is not None or not (folded or _is_uniform(report)):
        return None
    return fewest_processors((n + 1) // 2 if folded else n, ranks.count)
