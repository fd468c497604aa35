"""The efficiency of distributions of a loop on P ranks, if its iterations and their work are known.

The efficiency is T(1) / T(P) over the sum of the speeds (Ciegis et al., section 2), without communication:
the ideal time over that of the slowest rank. For equal tasks it has a closed form (section 2.1), and by their
Remark 1 fewer ranks may take the same time. Other work is summed over the iterations, and dealt by the same
functions as when the program runs. Numbers that the program's text does not fix are given by ``--set``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from dlbrt.contract import LAST, TRIAL, Distribution, OptionError
from dlbrt.records import dataclass

from dlbc.algebra.integer_form import IntegerForm, VariableKind
from dlbc.algebra.iteration_cost import Cost, CostClass
from dlbc.algebra.work import WorkPolynomial
from dlbc.algebra.work_text import Notation, text_of
from dlbc.commands.explain.cells import columns_of, within_rows
from dlbc.commands.explain.contributed import contributed_s
from dlbc.commands.explain.iterations import MOST_ITERATIONS, IterationRange, find_iterations
from dlbc.commands.explain.loop_numbers import LoopNumbers, Number, NumberError, read_settings
from dlbc.commands.explain.measured import MeasuredEfficiency, read_measured
from dlbc.commands.explain.movement import Traffic, traffic_of
from dlbc.commands.explain.prediction import OPERATION_S, PredictedTime, predicted_time
from dlbc.cost.evaluate import Evaluated, function_of
from dlbc.cost.evaluate_expressions import Names
from dlbc.ir.plan import FoldDecision, LoopReport

if TYPE_CHECKING:
    from dlbrt.partition.known import KnownWork


#: Work is summed over at most this number of iterations.
MOST_SUMMED = 10_000_000

#: Iterations are dealt to at most this number of ranks; for more there are only formulas.
_MOST_RANKS = 4096

_EVALUATED = "the given cost is evaluated when the program runs"


@dataclass(frozen=True, slots=True)
class RankSpec:
    """A number of ranks; ``weights`` are their relative speeds, if known.

    ``numbers`` are those of the program that the user gives, ``measured`` what a run of it has measured, by
    the places of loops.
    """

    count: int
    weights: tuple[float, ...] | None = None
    numbers: Mapping[str, Number] = field(default_factory=dict)
    measured: Mapping[str, MeasuredEfficiency] = field(default_factory=dict)


def read_ranks(
    count: int | None, weights: str | None, settings: Sequence[str] = (), statistics: str | None = None
) -> RankSpec | None:
    """The ranks of the command line, the numbers of ``--set``, and what the file ``statistics`` has.

    OptionError for a malformed list, or one of another length, for numbers or statistics without ranks, and
    for statistics that cannot be used; NumberError for malformed numbers.
    """
    if count is None and weights is None:
        for option, given in (("--set", settings), ("--stats", statistics)):
            if given:
                raise OptionError(f"{option}: expected it with a number of ranks, as in -n 4; found none")
        return None
    numbers = read_settings(settings)
    speeds = _weights(count, weights)
    ranks = count or len(speeds or ())
    return RankSpec(ranks, speeds, numbers, read_measured(statistics, ranks, speeds) if statistics else {})


def _weights(count: int | None, weights: str | None) -> tuple[float, ...] | None:
    if weights is None:
        return None
    from dlbrt.emulation import list_length, parse_weights

    if weights.strip() in (LAST, TRIAL):
        found = f"`{weights.strip()}`, which is for `dlbc run`"
        raise OptionError(f"--weights: expected a relative speed for each rank, as in 1,1.5; found {found}")
    return parse_weights(weights, count or list_length(weights))


@dataclass(frozen=True, slots=True)
class RankEstimate:
    """One way to deal the loop: its efficiency, and the slowest rank's time over the ideal time."""

    name: str
    efficiency: float
    largest: float


@dataclass(frozen=True, slots=True)
class RankAnswer:
    """The estimates for one loop, or ``why`` there are none.

    ``iterations`` is their number, if known; ``fewest`` is the smallest number of ranks that take the same
    time. ``within_rows``: the efficiency of a nest over cells written as one loop, if that is clearly better.
    ``traffic``: the bytes that a run moves. ``time``: what a run takes, if it runs as Python.
    """

    iterations: int | None
    why: str = ""
    estimates: tuple[RankEstimate, ...] = ()
    fewest: int | None = None
    within_rows: float | None = None
    traffic: Traffic | None = None
    time: PredictedTime | None = None


def answer_for(report: LoopReport, ranks: RankSpec, stays: bool = False) -> RankAnswer:
    """What is known of a loop on the ranks; ``stays``: its arrays stay there from run to run."""
    from dlbrt.partition.cost_spec import CostError

    numbers = LoopNumbers(report.loop, report.space, ranks.numbers)
    try:
        span = find_iterations(report.loop.node.iter, numbers)
    except NumberError as error:
        if ranks.numbers:
            raise
        return RankAnswer(None, str(error))
    if span is None:
        missing = f"the number of iterations is not known before the program runs{wanted(numbers.missing)}"
        return RankAnswer(None, _unknown_cost(report) or missing)
    n = len(span.values)
    case = _Case(report, ranks, numbers, span)
    if why := case.unknown(n):
        return RankAnswer(n, why)
    try:
        estimates = _estimates(case)
        cut_within = _cut_within_rows(case, max(each.efficiency for each in estimates))
    except CostError as error:
        return RankAnswer(n, f"{error}; iterations are assumed to cost the same until measured")
    traffic = None if stays else _traffic(report, n, ranks)
    time = _time(case, estimates[-1].largest, traffic)
    return RankAnswer(n, "", estimates, _fewest(report, n, ranks), cut_within, traffic, time)


def _time(case: _Case, largest: float, traffic: Traffic | None) -> PredictedTime | None:
    """What a run takes; None for a compiled loop, whose operations take no constant time."""
    operations = None if case.report.loop.annotation.jit is not None else case.operations()
    if operations is None:
        return None
    count = case.ranks.count
    row_bytes = traffic.rows / (1 - 1 / count) if traffic is not None and count > 1 else 0.0
    n, plan = len(case.span.values), case.report.plan
    alone_s = operations * OPERATION_S
    in_order_s = contributed_s(plan, n, alone_s) if plan is not None else 0.0
    return predicted_time(alone_s, n, count, largest, row_bytes, in_order_s)


def _traffic(report: LoopReport, n: int, ranks: RankSpec) -> Traffic | None:
    if report.plan is None:
        return None
    numbers = LoopNumbers(report.loop, report.space, ranks.numbers)
    return traffic_of(report.plan, numbers, n, ranks.count)


def wanted(names: Iterable[str]) -> str:
    """How to give the numbers that are missing; empty if none is."""
    options = [f"--set {name if name.isidentifier() else repr(name)}=NUMBER" for name in names]
    gives = "gives" if len(options) == 1 else "give"
    return f"; {' '.join(options)} {gives} it" if options else ""


def _unknown_cost(report: LoopReport) -> str:
    """Why the work of iterations is not known, whatever their number; empty if it is."""
    if report.partition_cost is not None and report.partition_cost.work is not None:
        return ""
    if report.loop.annotation.cost is not None:
        return _EVALUATED
    return "the cost of an iteration is not known before the program runs"


def is_uniform(report: LoopReport) -> bool:
    """Whether all iterations cost the same."""
    return report.partition_cost is not None and report.partition_cost.cost_class is CostClass.UNIFORM


@dataclass(frozen=True, slots=True)
class _Case:
    """A loop whose iterations are known, and the ranks that share them."""

    report: LoopReport
    ranks: RankSpec
    numbers: LoopNumbers
    span: IterationRange

    def unknown(self, n: int) -> str:
        """Why there can be no estimate; empty if there can."""
        if not n:
            return "there are no iterations"
        if why := _unknown_cost(self.report):
            return why
        uniform, count = is_uniform(self.report), self.ranks.count
        if count > _MOST_RANKS and not (uniform and self.ranks.weights is None):
            return f"not dealt, {count} ranks are more than {_MOST_RANKS}"
        if uniform:
            return ""
        if n > MOST_SUMMED:
            return f"not summed, {n} iterations are more than {MOST_SUMMED}"
        if self.work_function() is None:
            if self.report.loop.annotation.cost is not None:
                return _EVALUATED
            cost = self.report.partition_cost
            assert cost is not None
            depends = "the cost of an iteration depends on more than the index and known numbers"
            others = {v for v in self._work(cost).variables if v.kind is not VariableKind.INDEX}
            names = sorted(v.name for v in others if v.kind is VariableKind.PARAMETER)
            return depends + (wanted(names) if len(names) == len(others) else "")
        return ""

    def _work(self, cost: Cost) -> WorkPolynomial:
        """The work of an iteration, known numbers in place of names."""
        assert cost.work is not None
        known = self.numbers.parameters.items()
        return cost.work.replaced({v: IntegerForm.literal(value) for v, value in known})

    def work_function(self) -> Evaluated | None:
        """The work as a function of a vector of index values, if it depends on the index alone."""
        cost = self.report.partition_cost
        if cost is None or cost.work is None or self.report.space is None or not self.span.counts:
            return None
        if cost.work.elements or cost.pointwise:
            return None
        work = self._work(cost)
        if any(v.kind is not VariableKind.INDEX for v in work.variables) or not cost.short:
            return None
        numpy = "np" if cost.index.name != "np" else "numpy"
        body = ast.parse(text_of(work, cost.index, Notation.NUMPY, numpy), mode="eval").body
        return function_of((cost.index.name,), body, Names(modules={numpy: "numpy"}))

    def operations(self) -> float | None:
        """Those of all iterations; None if they are not known. CostError if the work is none."""
        cost, n = self.report.partition_cost, len(self.span.values)
        if self.report.loop.annotation.cost is not None or cost is None or cost.work is None:
            return None  # a given cost is in a unit of the user's
        if is_uniform(self.report):
            each = self._work(cost).constant
            return None if each is None else float(each) * n
        known = self.work()
        return None if known is None else float(known.before([n])[0])

    def work(self) -> KnownWork | None:
        """The work of the iterations, None if it is uniform; CostError if it is none."""
        from dlbrt.data.footprint import IndexMap
        from dlbrt.partition.cost_spec import CostSpec
        from dlbrt.partition.costs import evaluate_cost

        if is_uniform(self.report):
            return None
        values = self.span.values
        index = IndexMap(values.start, values.step)
        return evaluate_cost(CostSpec(density=self.work_function()), len(values), index, lambda: iter(values))


def _estimates(case: _Case) -> tuple[RankEstimate, ...]:
    from dlbrt.partition.proportional import product_efficiency

    if case.ranks.count > _MOST_RANKS:
        efficiency = product_efficiency(len(case.span.values), case.ranks.count)
        return (RankEstimate("equal parts", efficiency, 1 / efficiency),)
    return tuple(_dealings(case))


def _dealings(case: _Case) -> Iterator[RankEstimate]:
    """The ways to deal a loop that are worth comparing; the last one is what the program does."""
    work, weights, plan = case.work(), case.ranks.weights, case.report.plan
    yield _dealt("equal parts", case, work)
    if weights:
        yield _dealt("parts by weight", case, work, weights)
    yield _dealt("in turn", case, work, weights, Distribution.CYCLIC)
    last = []
    if work is not None:
        last += [_dealt("parts of equal work", case, work, weights, cut_by=work)]
    if plan is not None and plan.fold_decision is not FoldDecision.NO:
        pairs = _dealt("pairs", case, work, weights, plan.iterations, folded=True)
        last.insert(0 if plan.unfolds_for else len(last), pairs)
    yield from last


def _dealt(
    name: str,
    case: _Case,
    work: KnownWork | None,
    weights: tuple[float, ...] | None = None,
    distribution: Distribution = Distribution.BLOCK,
    cut_by: KnownWork | None = None,
    *,
    folded: bool = False,
) -> RankEstimate:
    from dlbrt.data.work_table import Units
    from dlbrt.partition.initial import deal, expected

    units = Units(0, len(case.span.values), folded)
    shares = deal(len(units), case.ranks.count, distribution, weights=weights, work=cut_by)
    loss = expected([units.positions(share) for share in shares], work, case.ranks.weights).loss
    return RankEstimate(name, 1 / (1 + loss), 1 + loss)


#: A nest is said to be better as one loop where that gains this much efficiency over whole rows.
_CLEARLY = 0.01


def _cut_within_rows(case: _Case, efficiency: float) -> float | None:
    """The efficiency of a nest over cells cut within rows, if it is clearly above ``efficiency``."""
    if len(case.span.values) > MOST_SUMMED or case.ranks.count > _MOST_RANKS:
        return None
    columns = columns_of(case.report.loop.node, case.numbers)
    if columns is None or columns * len(case.span.values) > MOST_ITERATIONS:
        return None
    speeds = case.ranks.weights or (1.0,) * case.ranks.count
    found = within_rows(len(case.span.values), columns, case.work(), speeds)
    return found if found > efficiency + _CLEARLY else None


def _fewest(report: LoopReport, n: int, ranks: RankSpec) -> int | None:
    """The smallest number of ranks that take no longer than all of them, if tasks and ranks are equal."""
    from dlbrt.partition.proportional import fewest_processors

    plan = report.plan
    folded = plan is not None and plan.fold_decision is not FoldDecision.NO and not plan.unfolds_for
    if ranks.weights is not None or not (folded or is_uniform(report)):
        return None
    return fewest_processors((n + 1) // 2 if folded else n, ranks.count)
