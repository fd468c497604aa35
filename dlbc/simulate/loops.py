"""From a loop's report to the model that is simulated: what the compiler found, with numbers put in.

What iterations really take and what balancing knows of it are two things. The first is the work W(i), scaled
to the mean that is given. The second is W(i) only where the kernel says it; where it does not, or pairs are
dealt, units count as alike. They are dealt by the rule of a run (`first_shares`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from dlbrt.core.partition.initial import first_shares
from dlbrt.dist.units import FoldingPolicy, Units
from dlbrt.records import dataclass
from dlbrt.sim.machine import LoopModel

from dlbc.ir.cost_plan import FoldDecision
from dlbc.ir.plan import LoopPlan
from dlbc.ir.report import LoopReport
from dlbc.simulate.costs import EvaluatedCost, find_work
from dlbc.simulate.described import SimulatedLoop
from dlbc.simulate.problems import CannotSimulateError
from dlbc.simulate.rows import MovementBytes, find_movement
from dlbc.simulate.spans import NO_ITERATIONS, find_span
from dlbc.simulate.values import LoopNumbers, Number

__all__ = ["LoopSettings", "describe_loop"]

_FOLDING = {
    FoldDecision.NO: FoldingPolicy.NONE,
    FoldDecision.DEFAULT: FoldingPolicy.WHERE_IT_PAYS,
    FoldDecision.FORCED: FoldingPolicy.ALWAYS,
}


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """What the user says of a loop: numbers by name, the mean time of an iteration, and the bytes of one."""

    given: Mapping[str, Number]
    iteration_s: float
    iteration_bytes: float | None = None


def describe_loop(report: LoopReport, file: str, terms: LoopSettings) -> SimulatedLoop:
    """The loop of a report that has a plan. CannotSimulateError, with all numbers that are missing."""
    plan = report.plan
    assert plan is not None
    source = f"{file}:{plan.loop.node.lineno}"
    values = LoopNumbers(plan.loop, report.space, terms.given)
    span = find_span(plan.loop.node.iter, values) or NO_ITERATIONS
    work = find_work(report, plan, values, span)
    said = terms.iteration_bytes
    movement = find_movement(plan, values) if said is None else MovementBytes(said)
    if values.missing or movement is None:
        raise CannotSimulateError(_missing(source, values.missing))
    model = _Model(plan, len(span.values), work, terms.iteration_s, movement)
    notes, assumed = tuple(model.notes()), bool(movement.assumed)
    return SimulatedLoop(source, plan.loop.number, notes, model, plan.group, bytes_assumed=assumed)


@dataclass(frozen=True, slots=True)
class _Model:
    """The loop for a number of ranks: its iterations, and how they are dealt."""

    plan: LoopPlan
    n: int
    work: EvaluatedCost
    iteration_s: float
    movement: MovementBytes

    def __call__(self, ranks: int) -> LoopModel:
        """The model."""
        folds = _FOLDING[self.plan.fold_decision].folds(
            self.n, ranks, in_long_runs=bool(self.plan.unfolds_for)
        )
        units = Units(0, self.n, folds)
        deal = first_shares(units, ranks, self.plan.iterations, stated=lambda: self.work.stated).deal
        size = self.movement.iteration_bytes
        return LoopModel(self.n, self.seconds(), folds, deal.work_table, size, deal.shares)

    def seconds(self) -> float | tuple[float, ...]:
        """What each position takes, all together as long as so many of the mean time."""
        if self.work.known is None:
            return self.iteration_s
        each = np.maximum(np.diff(self.work.known.before(np.arange(self.n + 1))), 0.0)
        return tuple((each * (self.n * self.iteration_s / each.sum())).tolist())

    def notes(self) -> Iterator[str]:
        """What is to be known of the loop when its figures are read."""
        total_s = self.n * self.iteration_s
        yield f"iterations: {self.n}, {self.iteration_s:g} s each on average, {total_s:g} s in all"
        yield f"cost: {self.work.note}"
        yield f"movement: {self.movement}"


def _missing(source: str, missing: Mapping[str, str]) -> str:
    """How to give what is missing."""
    words = [f"{text}=1000" if text.isidentifier() else f"'{text}=1000'" for text in missing]
    width = max(map(len, words), default=0)
    lines = [
        f"{source}: expected numbers that only a run of the program has; give your own in place of 1000:"
    ]
    lines += [f"    --set {word:{width}}  {why}" for word, why in zip(words, missing.values(), strict=True)]
    return "\n".join(lines)
