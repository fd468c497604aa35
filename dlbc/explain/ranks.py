"""What the distributions of a loop will cost on so many ranks, where its iterations and their work are known.

The efficiency is T(1) / T(P) over the sum of the speeds (Ciegis et al., section 2), communication not
counted: the ideal time over that of the slowest rank. For equal tasks it has a closed form (section 2.1), and
by their Remark 1 fewer ranks may take the same time. Other work is summed over the iterations, and dealt by
the functions that deal it when the program runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dlbrt.contract import Distribution, OptionError

from dlbc.explain.values import known_range, known_values
from dlbc.ir.cost import Class, Cost
from dlbc.ir.cost_plan import Folded
from dlbc.ir.form import Form, Kind
from dlbc.ir.report import LoopReport
from dlbc.ir.work_text import Style, text_of

if TYPE_CHECKING:
    from dlbrt.core.partition.known import KnownWork

__all__ = ["Ranks", "rank_object", "rank_words", "read_ranks"]

#: Iterations up to which work is summed.
_MOST_SUMMED = 10_000_000


@dataclass(frozen=True, slots=True)
class Ranks:
    """So many ranks; ``weights`` are their relative speeds, where they are known."""

    count: int
    weights: tuple[float, ...] | None = None


def read_ranks(count: int | None, weights: str | None) -> Ranks | None:
    """The ranks of the command line; OptionError for a list that is none, or not of that length."""
    if weights is None:
        return None if count is None else Ranks(count)
    from dlbrt.core.load import parse_weights

    count = count or weights.count(",") + 1
    found = parse_weights(weights, count)
    if found is None:
        raise OptionError(f"weights: expected relative speeds such as 1,1.5, found {weights}")
    return Ranks(count, found)


@dataclass(frozen=True, slots=True)
class _Estimate:
    """One way to deal the loop: its efficiency, and the slowest rank's time over the ideal one."""

    name: str
    efficiency: float
    largest: float


def rank_words(report: LoopReport, ranks: Ranks) -> Iterator[tuple[str, str]]:
    """Rows: a way to deal the iterations, and what it will cost; or why that is not known."""
    values = _values(report)
    why = _unknown(report, values)
    if values is None or why:
        yield "", why
        if report.known is not None and report.known.kind is Class.UNIFORM and ranks.weights is None:
            yield from _formula(ranks.count)
        return
    for estimate in _estimates(report, values, ranks):
        slowest = f"the slowest rank takes {estimate.largest:.3f} of the ideal time"
        yield estimate.name, f"efficiency {estimate.efficiency:.1%}, {slowest}"
    if remark := _remark(report, len(values), ranks):
        yield "", remark


def rank_object(report: LoopReport, ranks: Ranks) -> dict[str, Any]:
    """The same for tools."""
    values = _values(report)
    why = _unknown(report, values)
    known = values is not None and not why
    estimates = _estimates(report, values, ranks) if values is not None and known else ()
    return {
        "ranks": ranks.count,
        "weights": ranks.weights,
        "iterations": None if values is None else len(values),
        "why": why,
        "estimates": [
            {"distribution": e.name, "efficiency": e.efficiency, "largest_over_ideal": e.largest}
            for e in estimates
        ],
        "fewest_ranks": _fewest(report, len(values), ranks) if values is not None and known else None,
    }


def _values(report: LoopReport) -> range | None:
    return None if report.space is None else known_range(report.space)


def _unknown(report: LoopReport, values: range | None) -> str:
    """Why nothing can be said, or nothing."""
    if values is None:
        return "how many iterations there are is not known before the program runs"
    if not values:
        return "there are no iterations"
    if report.known is None or report.known.work is None:
        return "what an iteration costs is not known before the program runs"
    if len(values) > _MOST_SUMMED and report.known.kind is not Class.UNIFORM:
        return f"not summed, {len(values)} iterations are more than {_MOST_SUMMED}"
    if report.known.kind is not Class.UNIFORM and _function(report, report.known) is None:
        return "what an iteration costs depends on more than the index and known numbers"
    return ""


def _formula(ranks: int) -> Iterator[tuple[str, str]]:
    from dlbrt.core.partition.estimates import product_bound

    text = f"efficiency n/({ranks}*ceil(n/{ranks})) for n iterations"
    yield "equal parts", f"{text}, at least {product_bound(1, ranks):.1%} for more than {ranks}"


def _estimates(report: LoopReport, values: range, ranks: Ranks) -> tuple[_Estimate, ...]:
    return tuple(_Dealing(report, values, ranks).all())


@dataclass(frozen=True, slots=True)
class _Dealing:
    """The ways to deal one loop."""

    report: LoopReport
    values: range
    ranks: Ranks

    def all(self) -> Iterator[_Estimate]:
        """Those that anyone would choose between, what is done last."""
        work = self._work()
        yield self._dealt("equal parts", None, Distribution.BLOCK, None, work)
        if self.ranks.weights:
            yield self._dealt("parts by weight", self.ranks.weights, Distribution.BLOCK, None, work)
        yield self._dealt("in turn", self.ranks.weights, Distribution.CYCLIC, None, work)
        if work is not None:
            yield self._dealt("parts of equal work", self.ranks.weights, Distribution.BLOCK, work, work)
        plan = self.report.plan
        if plan is not None and plan.folded is not Folded.NO:
            yield self._paired(plan.iterations, work)

    def _work(self) -> KnownWork | None:
        from dlbrt.core.partition.costs import CostSpec, evaluate_cost
        from dlbrt.dist.footprint import IndexMap

        cost = self.report.known
        if cost is None or cost.kind is Class.UNIFORM:
            return None
        index = IndexMap(self.values.start, self.values.step)
        spec = CostSpec(density=_function(self.report, cost))
        return evaluate_cost(spec, len(self.values), index, lambda: iter(self.values))

    def _dealt(
        self,
        name: str,
        weights: tuple[float, ...] | None,
        distribution: Distribution,
        cut_by: KnownWork | None,
        work: KnownWork | None,
    ) -> _Estimate:
        from dlbrt.core.partition.initial import deal, expected

        shares = deal(len(self.values), self.ranks.count, distribution, weights=weights, work=cut_by)
        return _estimate(name, expected(shares, work, self.ranks.weights).loss)

    def _paired(self, distribution: Distribution, work: KnownWork | None) -> _Estimate:
        from dlbrt.core.partition.initial import deal, expected
        from dlbrt.dist.units import Units

        units = Units(0, len(self.values), folded=True)
        shares = deal(len(units), self.ranks.count, distribution, weights=self.ranks.weights)
        positions = [units.positions(share) for share in shares]
        return _estimate("pairs", expected(positions, work, self.ranks.weights).loss)


def _estimate(name: str, loss: float) -> _Estimate:
    return _Estimate(name, 1 / (1 + loss), 1 + loss)


def _function(report: LoopReport, cost: Cost) -> Any:
    """The work as a function of a vector of index values, where it is one of the index alone."""
    import numpy as np

    if cost.work is None or report.space is None or cost.work.elements or cost.pointwise:
        return None
    numbers = known_values(report.space.facts)
    work = cost.work.replaced({variable: Form.literal(value) for variable, value in numbers.items()})
    if any(v.kind is not Kind.INDEX for v in work.variables) or not cost.short:
        return None
    text = f"lambda {cost.index.name}: {text_of(work, cost.index, Style.NUMPY, 'np')}"
    names: Mapping[str, Any] = {"np": np, "__builtins__": {}}
    return eval(text, dict(names))  # a polynomial that was derived, of one variable; no code of the user


def _fewest(report: LoopReport, n: int, ranks: Ranks) -> int | None:
    """How few ranks take as long as all of them, where tasks are equal and so are ranks."""
    from dlbrt.core.partition.estimates import fewest_processors

    folded = report.plan is not None and report.plan.folded is not Folded.NO
    uniform = report.known is not None and report.known.kind is Class.UNIFORM
    if ranks.weights is not None or not (folded or uniform):
        return None
    return fewest_processors((n + 1) // 2 if folded else n, ranks.count)


def _remark(report: LoopReport, n: int, ranks: Ranks) -> str:
    fewest = _fewest(report, n, ranks)
    if fewest is None or fewest == ranks.count:
        return ""
    return f"{fewest} of the {ranks.count} ranks take the same time"
