"""From a loop's report to the model that is simulated: what the compiler found, with numbers put in.

What iterations really take and what balancing knows of it are two things. The first is the work W(i), scaled
to the mean that is given. The second is W(i) only where the kernel says it; where it does not, or pairs are
dealt, units count as alike. They are dealt by the rule of a run (`first_shares`).
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
from dlbc.commands.simulate.costs import NO_ITERATIONS, EvaluatedCost, find_span, find_work
from dlbc.commands.simulate.loop_numbers import LoopNumbers, Number, read_settings
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

# ------------------------------------------------------------------------------
# How many bytes go with an iteration that moves: the rows that it reads of the arrays that are dealt.
#
# As the runtime counts them (`dlbrt.data.field`): what every rank holds does not move, nor what the loop only
# overwrites. The shape of an array is that of the last `numpy` constructor before the loop; of another one the
# loop's subscripts tell how many axes it has, and their lengths are to be given. Where they show one axis
# alone, how long a row is cannot be told: it is assumed to be one element, which is said.

#: What an element of an array counts for, unless it says.
_ELEMENT_BYTES = 8

_SIZES = {
    **dict.fromkeys(("bool", "bool_", "int8", "uint8"), 1),
    **dict.fromkeys(("int16", "uint16", "float16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32", "single"), 4),
    **dict.fromkeys(("complex", "complex128"), 16),
}

_MAKERS = {name.removeprefix("numpy.") for name in names_where(lambda row: row.cost is CostKind.CREATION)}


@dataclass(frozen=True, slots=True)
class _Made:
    """What is known of an array: the lengths of its axes as expressions, and the bytes of an element.

    ``assumed``: that there are no other axes is not known.
    """

    lengths: tuple[ast.expr, ...]
    element_bytes: int = _ELEMENT_BYTES
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class MovementBytes:
    """The bytes that move with an iteration; of the arrays ``assumed`` a row is taken to be one element."""

    iteration_bytes: float
    assumed: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f"{self.iteration_bytes:g} bytes with an iteration"
        if not self.assumed:
            return shown
        rows = f"a row of {', '.join(self.assumed)} to be an element of {_ELEMENT_BYTES} bytes"
        return f"{shown}, assuming {rows}; --bytes says otherwise"


def find_movement(plan: LoopPlan, values: LoopNumbers) -> MovementBytes | None:
    """What moves with an iteration; None where lengths are missing, which ``values`` keep."""
    moving = [array for array in plan.arrays if _moves(array)]
    found = [_row_bytes(array, plan, values) for array in moving]
    known = [size for size in found if size is not None]
    if len(known) < len(found):
        return None
    assumed = (array.name for array in moving if (made := _made(array.name, plan)) and made.assumed)
    return MovementBytes(float(sum(known)), tuple(dict.fromkeys(assumed)))


def _moves(array: ArrayPlan) -> bool:
    by_rows = array.axis is not None and array.distribution is not Distribution.WHOLE
    return by_rows and array.mode is not Mode.WRITE


def _row_bytes(array: ArrayPlan, plan: LoopPlan, values: LoopNumbers) -> int | None:
    made = _made(array.name, plan)
    rows = max(1, len(array.rows))
    if made is None:
        return rows * OBJECT_BYTES
    why = f"the length of a row of {array.name}"
    lengths = [values.length(e, why, "--bytes") for axis, e in enumerate(made.lengths) if axis != array.axis]
    known = [length for length in lengths if length is not None]
    return rows * prod(known) * made.element_bytes if len(known) == len(lengths) else None


def _made(name: str, plan: LoopPlan) -> _Made | None:
    """How the array is made; None for a list."""
    found: ast.expr | None = None
    for statement in statements_before(plan.loop):
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=[target], value=value) if ast.unparse(target) == name:
                    found = value
    match found:
        case ast.List() | ast.ListComp() | ast.BinOp(op=ast.Mult(), left=ast.List()):
            return None
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=maker), args=[shape, *_]):
            if maker in _MAKERS and maker != "arange":
                parts = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
                return _Made(tuple(parts), _element_bytes(found))
    lengths = tuple(_lengths(name, plan))
    return _Made(lengths, assumed=len(lengths) == 1)


def _element_bytes(call: ast.Call) -> int:
    words = [*(k.value for k in call.keywords if k.arg == "dtype"), *call.args[1:2]]
    names = (ast.unparse(word).strip("'\"").rpartition(".")[2] for word in words)
    return next((_SIZES[name] for name in names if name in _SIZES), _ELEMENT_BYTES)


def _lengths(name: str, plan: LoopPlan) -> Iterator[ast.expr]:
    """The axes by which the loop takes elements of an array, as expressions for their lengths."""
    depth = max((_depth(node, name) for node in ast.walk(plan.loop.node)), default=1)
    for axis in range(max(1, depth)):
        yield ast.parse(f"{name}.shape[{axis}]" if axis else f"len({name})", mode="eval").body


def _depth(node: ast.AST, name: str) -> int:
    """By how many subscripts ``node`` takes an element of the array; 0 where it does not."""
    depth = 0
    while isinstance(node, ast.Subscript):
        depth += len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        node = node.value
    return depth if depth and ast.unparse(node) == name else 0


# ------------------------------------------------------------------------------

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


# ------------------------------------------------------------------------------
# A loop of a program, to be played: what the compiler finds of it, with numbers put in.

#: What an iteration takes on average, unless that is said.
_ITERATION_S = 1e-3


def loop_of_program(path: str, request: SimulationRequest) -> SimulatedLoop:
    """The loop that is asked for. FaultyProgramError, CannotSimulateError."""
    terms = _terms(request)
    reports = _reports(path)
    places = {report.loop.number: f"line {report.loop.node.lineno}" for report in reports}
    number = choose_loop(path, request.loop, places)
    [report] = [report for report in reports if report.loop.number == number]
    return describe_loop(report, Path(path).name, terms)


def _terms(request: SimulationRequest) -> LoopSettings:
    problems, given = Problems(), request.iteration_s
    with problems.kept():
        settings = read_settings(request.settings)
    with problems.kept():
        iteration_s = _ITERATION_S if given is None else read_number("--iteration-s", given, above=True)
    with problems.kept():
        size = None if request.bytes is None else read_number("--bytes", request.bytes)
    problems.end()
    return LoopSettings(settings, iteration_s, size)


def _reports(path: str) -> tuple[LoopReport, ...]:
    source, problems = read_source(path)
    if problems:
        raise FaultyProgramError(source, tuple(problems))
    result = explain(source)
    if has_errors(result.diagnostics):
        raise FaultyProgramError(source, result.diagnostics)
    return result.reports


# ------------------------------------------------------------------------------
# A loop of a recorded run (`dlbrt.sim.recorded`), to be played again.


def recorded_loop(path: str, wanted: str | None) -> SimulatedLoop:
    """The loop of that number, or the only one there is. CannotSimulateError."""
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

    played = model(recording.ranks)
    work_s = played.costs().of(played.units.all)
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
