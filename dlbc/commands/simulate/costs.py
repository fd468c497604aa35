"""The cost of the iterations of a program's loop: the clause `cost` or derived work, as in a run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from dlbrt.data.footprint import IndexMap
from dlbrt.partition.cost_spec import CostError, CostSpec
from dlbrt.partition.costs import evaluate_cost
from dlbrt.partition.known import KnownWork
from dlbrt.records import dataclass

from dlbc.algebra.iteration_cost import Cost, CostClass
from dlbc.commands.explain.iterations import IterationRange
from dlbc.commands.explain.loop_numbers import LoopNumbers
from dlbc.commands.explain.ranks import MOST_SUMMED
from dlbc.cost.limits import EvaluationError
from dlbc.ir.plan import CostPlan, CostShape, LoopPlan, LoopReport

#: Names that no program has.
_NUMPY, _ITEMS = "_dlbc_numpy", "_dlbc_items"

_ALIKE = "all iterations are assumed to cost the same"

#: Characters of a formula that are shown.
_WIDEST = 60


@dataclass(frozen=True, slots=True)
class EvaluatedCost:
    """The cost of the iterations: ``known`` is None if it is uniform or unknown, as the ``note`` says.

    ``stated`` is the cost that the kernel states when the program runs; balancing knows no other.
    """

    note: str
    known: KnownWork | None = None
    stated: KnownWork | None = None


def find_work(report: LoopReport, plan: LoopPlan, values: LoopNumbers, span: IterationRange) -> EvaluatedCost:
    """The cost of the iterations of a loop; ``values`` records the numbers that are missing for it."""
    cost = report.partition_cost
    if plan.cost is None and (cost is None or cost.work is None):
        return EvaluatedCost(f"not derived, {_ALIKE}{f': {cost.why}' if cost and cost.why else ''}")
    if plan.cost is None and cost is not None and cost.cost_class is CostClass.UNIFORM:
        return EvaluatedCost(f"{_words(cost)}, the same for all iterations")
    if len(span.values) > MOST_SUMMED:
        return EvaluatedCost(f"not summed, {_ALIKE}: there are more than {MOST_SUMMED} of them")
    try:
        return _Evaluation(report, plan, values, span).work()
    except (CostError, EvaluationError) as error:
        reason = error.__cause__ if isinstance(error.__cause__, EvaluationError) else error
        if isinstance(reason, EvaluationError):
            return EvaluatedCost(f"not evaluated, {_ALIKE}: {reason}")
        return EvaluatedCost(f"{reason}; {_ALIKE}")
    except Exception as error:  # whatever the operations of the program's expression raise
        return EvaluatedCost(f"not evaluated, {_ALIKE}: {type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """The cost of one loop's iterations."""

    report: LoopReport
    plan: LoopPlan
    values: LoopNumbers
    span: IterationRange

    def work(self) -> EvaluatedCost:
        """Their cost; raises whatever its evaluation raises."""
        stated, cost = self.plan.cost, self.report.partition_cost
        if stated is None and cost is not None and cost.pointwise:
            return EvaluatedCost(f"{self.report.cost_omitted}, {_ALIKE}")
        plan = stated or _derived(cost)
        spec = self._spec(plan)
        if spec is None:
            return EvaluatedCost(f"it depends on data, {_ALIKE}")
        index = IndexMap(self.span.values.start, self.span.values.step)
        work = evaluate_cost(spec, len(self.span.values), index, lambda: iter(self.span.values))
        if work is None:
            return EvaluatedCost("the same for all iterations")
        unknown = f", which balancing does not know: {self.report.cost_omitted}" if stated is None else ""
        return EvaluatedCost(f"{self._text(plan)}{unknown}", work, None if stated is None else work)

    def _text(self, plan: CostPlan) -> str:
        """The cost, for people."""
        clause, cost = self.plan.loop.annotation.cost, self.report.partition_cost
        if clause is not None or cost is None:
            return f"`{plan.text}`, by the clause"
        return f"{_words(cost)}, {plan.target} being the index"

    def _spec(self, plan: CostPlan) -> CostSpec | None:
        """The cost as the kernel states it; None if it depends on data, or on missing numbers."""
        text, target = plan.expression(_NUMPY), plan.target
        match plan.shape:
            case CostShape.VECTOR:
                found = self._function(f"lambda {target}: {text}") if self.span.counts else None
                return None if found is None else CostSpec(density=found)
            case CostShape.CUMULATIVE:
                found = self._function(f"lambda {target}: {text}")
                return None if found is None else CostSpec(cumulative=found)
            case CostShape.FIT:
                found = self._function(f"lambda: {text}")
                return None if found is None else CostSpec(fit=found)
        calls = "".join(f" for {name} in [{call}]" for name, call in plan.bound_calls)
        each = f"lambda {_ITEMS}: [{text} for {target} in {_ITEMS}{calls}]"
        found = self._function(each) if self._items_are_known() else None
        return None if found is None else CostSpec(each=found)

    def _function(self, text: str) -> Callable[..., Any] | None:
        return self.values.function(text, "what an iteration costs", {_NUMPY: "numpy"})

    def _items_are_known(self) -> bool:
        """Whether the items of the loop are the values of its index."""
        node: ast.expr = self.plan.loop.node.iter
        while isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) != "range":
            node = node.args[0]
        target = self.plan.loop.node.target
        return self.span.counts and isinstance(node, ast.Call) and isinstance(target, ast.Name)


def _words(cost: Cost) -> str:
    """A derived cost, for people."""
    shown = cost.text if len(cost.text) <= _WIDEST else cost.text[: _WIDEST - 3] + "..."
    return f"{shown} operations{'' if cost.exact else ', estimated'}"


def _derived(cost: Cost | None) -> CostPlan:
    """A derived cost that the kernel does not state."""
    assert cost is not None
    assert cost.work is not None
    return CostPlan(CostShape.VECTOR, cost.index.name, "", cost.work, cost.index, clamped=True)
