"""The loops that can be simulated: a loop of a program, from its report, or a loop of a recorded run.

For a program's loop, what iterations really take and what balancing knows of it are two things. The first is
the work W(i), scaled to the given mean time. The second is W(i) only if the kernel states it; otherwise, or
if pairs are dealt, all units count the same. They are dealt by the rule of a run (`first_shares`).

The bytes that move with an iteration are those of the rows that it reads of distributed arrays, as the
runtime counts them (`dlbrt.data.field`): arrays that every rank holds do not move, nor does what the loop
only overwrites. An array has the shape given by the last `numpy` constructor before the loop. Otherwise the
loop's subscripts show the number of its axes, whose lengths the user gives. If they show only one axis, the
length of a row is unknown: a row is assumed to be one element, and the output says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path

import numpy as np
from dlbrt.contract import Distribution, Mode
from dlbrt.data.field import OBJECT_BYTES
from dlbrt.data.work_table import FoldingPolicy, Units
from dlbrt.observe.trace import TraceError
from dlbrt.partition.initial import first_shares
from dlbrt.records import dataclass
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.machine import LoopModel
from dlbrt.sim.recorded import read

from dlbc.analysis.enclosing_statements import statements_before
from dlbc.analysis.subscripts import all_known
from dlbc.commands.explain.iterations import NO_ITERATIONS, find_iterations
from dlbc.commands.explain.loop_numbers import LoopNumbers, Number, check_names, read_settings
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
from dlbc.ir.plan import ArrayPlan, FoldDecision, LoopPlan, LoopReport
from dlbc.library.row import CostKind
from dlbc.library.table import names_where
from dlbc.parse.read_source import read_source
from dlbc.pipeline import explain

# The bytes that move with an iteration

#: Bytes of an element, unless the constructor names a type.
_ELEMENT_BYTES = 8

_SIZES = {
    **dict.fromkeys(("bool", "bool_", "int8", "uint8"), 1),
    **dict.fromkeys(("int16", "uint16", "float16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32", "single"), 4),
    **dict.fromkeys(("complex", "complex128"), 16),
}

_CONSTRUCTORS = {
    name.removeprefix("numpy.") for name in names_where(lambda row: row.cost is CostKind.CREATION)
}


@dataclass(frozen=True, slots=True)
class _ArrayShape:
    """The lengths of an array's axes, as expressions, and the bytes of an element.

    ``assumed``: there may be further axes.
    """

    lengths: tuple[ast.expr, ...]
    element_bytes: int = _ELEMENT_BYTES
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class MovementBytes:
    """The bytes that move with an iteration; a row of the arrays ``assumed`` is assumed to be one element."""

    iteration_bytes: float
    assumed: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f"{self.iteration_bytes:g} bytes with an iteration"
        if not self.assumed:
            return shown
        rows = f"a row of {', '.join(self.assumed)} to be an element of {_ELEMENT_BYTES} bytes"
        return f"{shown}, assuming {rows}; --bytes says otherwise"


def find_movement(plan: LoopPlan, values: LoopNumbers) -> MovementBytes | None:
    """What moves with an iteration; None if lengths are missing, which ``values`` records."""
    moving = [array for array in plan.arrays if _moves(array)]
    sizes = all_known(_row_bytes(array, plan, values) for array in moving)
    if sizes is None:
        return None
    assumed = (array.name for array in moving if (shape := _shape_of(array.name, plan)) and shape.assumed)
    return MovementBytes(float(sum(sizes)), tuple(dict.fromkeys(assumed)))


def _moves(array: ArrayPlan) -> bool:
    by_rows = array.axis is not None and array.distribution is not Distribution.WHOLE
    return by_rows and array.mode is not Mode.WRITE


def _row_bytes(array: ArrayPlan, plan: LoopPlan, values: LoopNumbers) -> int | None:
    shape = _shape_of(array.name, plan)
    rows = max(1, len(array.rows))
    if shape is None:
        return rows * OBJECT_BYTES
    why = f"the length of a row of {array.name}"
    inner = [e for axis, e in enumerate(shape.lengths) if axis != array.axis]
    lengths = all_known(values.length(e, why, "--bytes") for e in inner)
    return None if lengths is None else rows * prod(lengths) * shape.element_bytes


def _shape_of(name: str, plan: LoopPlan) -> _ArrayShape | None:
    """The shape of the array; None for a list."""
    last: ast.expr | None = None
    for statement in statements_before(plan.loop):
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=[target], value=value) if ast.unparse(target) == name:
                    last = value
    match last:
        case ast.List() | ast.ListComp() | ast.BinOp(op=ast.Mult(), left=ast.List()):
            return None
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=maker), args=[shape, *_]):
            if maker in _CONSTRUCTORS and maker != "arange":
                parts = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
                return _ArrayShape(tuple(parts), _element_bytes(last))
    depth = max((_depth(node, name) for node in ast.walk(plan.loop.node)), default=1)
    texts = [f"len({name})", *(f"{name}.shape[{axis}]" for axis in range(1, depth))]
    lengths = tuple(ast.parse(text, mode="eval").body for text in texts)
    return _ArrayShape(lengths, assumed=len(lengths) == 1)


def _element_bytes(call: ast.Call) -> int:
    types = [*(k.value for k in call.keywords if k.arg == "dtype"), *call.args[1:2]]
    names = (ast.unparse(node).strip("'\"").rpartition(".")[2] for node in types)
    return next((_SIZES[name] for name in names if name in _SIZES), _ELEMENT_BYTES)


def _depth(node: ast.AST, name: str) -> int:
    """The number of subscripts by which ``node`` selects an element of the array; 0 if it does not."""
    depth = 0
    while isinstance(node, ast.Subscript):
        depth += len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        node = node.value
    return depth if depth and ast.unparse(node) == name else 0


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
