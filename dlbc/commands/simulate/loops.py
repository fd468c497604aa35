"""The loops that can be simulated: a loop of a program, from its report, or a loop of a recorded run.

For a program's loop, what iterations really take and what balancing knows of it are two things. The first is
the work W(i), scaled to the given mean time. The second is W(i) only if the kernel states it; otherwise, or
if pairs are dealt, all units count the same. They are dealt by the rule of a run (`first_shares`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from dlbrt.data.work_table import FoldingPolicy, Units
from dlbrt.observe.trace import TraceError
from dlbrt.partition.initial import first_shares
from dlbrt.records import dataclass
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.machine import LoopModel
from dlbrt.sim.recorded import read

from dlbc.commands.explain.iterations import NO_ITERATIONS, find_iterations
from dlbc.commands.explain.loop_numbers import LoopNumbers, Number, check_names, read_settings
from dlbc.commands.explain.movement import MovementBytes, find_movement
from dlbc.commands.simulate.costs import EvaluatedCost, find_work
from dlbc.commands.simulate.request import (
    CannotSimulateError,
    FaultyProgramError,
    Problems,
    SimulatedLoop,
    SimulationRequest,
    choose_loop,
    read_number,
)
from dlbc.diagnostics.diagnostic import has_errors
from dlbc.ir.plan import FoldDecision, LoopPlan, LoopReport
from dlbc.parse.read_source import read_source
from dlbc.pipeline import explain

# The loop of a program

_FOLDING = {
    FoldDecision.NO: FoldingPolicy.NONE,
    FoldDecision.DEFAULT: FoldingPolicy.WHERE_IT_PAYS,
    FoldDecision.FORCED: FoldingPolicy.ALWAYS,
}


#: Mean time of an iteration, unless it is given.
_ITERATION_S = 1e-3


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """What the user gives: numbers by name, the mean time of an iteration in seconds, and its bytes."""

    given: Mapping[str, Number]
    iteration_s: float
    iteration_bytes: float | None = None


def loop_of_program(path: str, request: SimulationRequest) -> SimulatedLoop:
    """The requested loop of a program; FaultyProgramError, CannotSimulateError."""
    settings = _settings(request)
    source, problems = read_source(path)
    if problems:
        raise FaultyProgramError(source, tuple(problems))
    result = explain(source)
    if has_errors(result.diagnostics):
        raise FaultyProgramError(source, result.diagnostics)
    places = {report.loop.number: f"line {report.loop.node.lineno}" for report in result.reports}
    number = choose_loop(path, request.loop, places)
    [report] = [report for report in result.reports if report.loop.number == number]
    return _describe(report, Path(path).name, settings)


def _settings(request: SimulationRequest) -> LoopSettings:
    problems, seconds, size = Problems(), request.iteration_s, None
    with problems.kept():
        numbers = read_settings(request.settings)
    with problems.kept():
        iteration_s = _ITERATION_S if seconds is None else read_number("--iteration-s", seconds, above=True)
    with problems.kept():
        size = None if request.bytes is None else read_number("--bytes", request.bytes)
    problems.end()
    return LoopSettings(numbers, iteration_s, size)


def _describe(report: LoopReport, file: str, settings: LoopSettings) -> SimulatedLoop:
    """The loop of a report that has a plan; CannotSimulateError with all numbers that are missing."""
    plan = report.plan
    assert plan is not None
    source = f"{file}:{plan.loop.node.lineno}"
    check_names(settings.given, [plan.loop])
    values = LoopNumbers(plan.loop, report.space, settings.given)
    span = find_iterations(plan.loop.node.iter, values) or NO_ITERATIONS
    work = find_work(report, plan, values, span)
    size = settings.iteration_bytes
    movement = find_movement(plan, values) if size is None else MovementBytes(size)
    if values.missing or movement is None:
        raise CannotSimulateError(_missing(source, values.missing))
    model = _Model(plan, len(span.values), work, settings.iteration_s, movement)
    notes, assumed = tuple(model.notes()), bool(movement.assumed)
    return SimulatedLoop(source, plan.loop.number, notes, model, plan.group, bytes_assumed=assumed)


@dataclass(frozen=True, slots=True)
class _Model:
    """Makes the model of the loop for a number of ranks."""

    plan: LoopPlan
    n: int
    work: EvaluatedCost
    iteration_s: float
    movement: MovementBytes

    def __call__(self, ranks: int) -> LoopModel:
        """The model for ``ranks`` ranks."""
        folding = _FOLDING[self.plan.fold_decision]
        folds = folding.folds(self.n, ranks, in_long_runs=bool(self.plan.unfolds_for))
        units = Units(0, self.n, folds)
        deal = first_shares(units, ranks, self.plan.iterations, stated=lambda: self.work.stated).deal
        size = self.movement.iteration_bytes
        return LoopModel(self.n, self.seconds(), folds, deal.work_table, size, deal.shares)

    def seconds(self) -> float | tuple[float, ...]:
        """The time of each iteration; the mean is the given one."""
        if self.work.known is None:
            return self.iteration_s
        each = np.maximum(np.diff(self.work.known.before(np.arange(self.n + 1))), 0.0)
        return tuple((each * (self.n * self.iteration_s / each.sum())).tolist())

    def notes(self) -> Iterator[str]:
        """What a reader of the figures has to know of the loop."""
        total_s = self.n * self.iteration_s
        yield f"iterations: {self.n}, {self.iteration_s:g} s each on average, {total_s:g} s in all"
        yield f"cost: {self.work.note}"
        yield f"movement: {self.movement}"


def _missing(source: str, missing: Mapping[str, str]) -> str:
    """The message that shows how to give the missing numbers."""
    words = [f"{text}=1000" if text.isidentifier() else f"'{text}=1000'" for text in missing]
    width = max(map(len, words), default=0)
    head = f"{source}: expected numbers that only a run of the program has; give your own in place of 1000:"
    lines = [f"    --set {word:{width}}  {why}" for word, why in zip(words, missing.values(), strict=True)]
    return "\n".join([head, *lines])


def recorded_loop(path: str, wanted: str | None) -> SimulatedLoop:
    """The loop of a recorded run, by its number, or the only one; CannotSimulateError."""
    try:
        recording = read(path)
    except TraceError as error:
        raise CannotSimulateError(str(error)) from error
    number = choose_loop(path, wanted, {loop.number: loop.source for loop in recording.loops})
    loop = recording.loops[number - 1]
    runs = f"{loop.runs} run{'s' * (loop.runs != 1)}"

    def model(ranks: int) -> LoopModel:
        try:
            return recording.loop(number, ranks)
        except ValueError as error:
            raise CannotSimulateError(f"{path}: {error}") from error

    as_recorded = model(recording.ranks)
    work_s = as_recorded.costs().of(as_recorded.units.all)
    recorded = f"recorded: {runs} on {recording.ranks} ranks, the last under {loop.strategy}"
    iterations = f"iterations: {loop.iterations}, {work_s:.4g} s in all on a processor of speed 1"
    return SimulatedLoop(
        loop.source,
        number,
        (recorded, iterations),
        model,
        machine=recording.machine(),
        network=NetworkDescription.of(recording.network),
        parameters=recording.parameters,
    )
