"""Running a kernel on one rank, failures of its body included; the same on rank 0 and on the others."""

from __future__ import annotations

import dis
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import field, replace
from itertools import pairwise
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

from dlbrt.balance.messages import NO_FAILURE
from dlbrt.balance.setup import AgentSetup, initial_state
from dlbrt.contract import Mode
from dlbrt.data.field import Field
from dlbrt.data.footprint import Rows
from dlbrt.data.spans import Spans
from dlbrt.mpi.call import LoopCall
from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.driver import AgentDriver
from dlbrt.mpi.failure import Failure, capture
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.output.live_output import ForwardedReport
from dlbrt.mpi.team import RunCounters, clock
from dlbrt.mpi.temporaries import Kept
from dlbrt.mpi.values.left_behind import LeftBehindError
from dlbrt.mpi.values.objects import Returned, SharedObjects, WorkerObjects
from dlbrt.mpi.values.program_state import raised_signals
from dlbrt.records import dataclass
from dlbrt.reductions.journal import Extent
from dlbrt.reductions.unbound import as_in_program

if TYPE_CHECKING:
    from dlbrt.observe.recorder import Recorder
    from dlbrt.observe.trace import RankTrace
    from dlbrt.partition.density import Sample


#: Why a rank withholds its results where rows that iterations overwrite have not been sent.
ROWS_MISSING = "an iteration has failed, and the old contents of its rows are at rank 0 alone"


#: Why a rank has no results: it, or another one, has died before these were all at rank 0.
RANKS_LOST = "a rank has died"


class RowsMissingError(Exception):
    """What a failed iteration has left of its rows is not known on this rank."""


@dataclass(frozen=True, slots=True)
class SentValue:
    """A value that has left its ``rank`` as a message."""

    rank: int
    data: bytes


@dataclass(frozen=True, slots=True)
class RankResult:
    """What one rank reports at the end: figures, final values, the body's failure.

    ``kept`` are the values left in temporaries: each a `SentValue`, or at rank 0, for its own, the value
    itself. ``overwritten`` are the arrays of mode ``w`` to which the failing iteration has stored.
    ``extents`` are those of the segments of the rank's journal, ``samples`` the times of groups of iterations
    where they are measured, ``trace`` the rank's trace where one is written. ``withheld`` says why what the
    iterations left could not leave the rank, so that none of it has been sent. ``contradiction`` names
    what has changed though the plan says that it does not. ``forwarded`` is what the rank has sent of its
    output. ``disturbed``: other programs took the processor while iterations were timed. ``interrupted``: an
    interrupt from the keyboard has ended the rank's part. ``interpreted``: why `jit` compiled nothing there.
    """

    figures: RunCounters
    kept: dict[str, Kept]
    failure: Failure | None
    overwritten: tuple[str, ...] = ()
    extents: tuple[Extent, ...] = ()
    samples: tuple[Sample, ...] = ()
    trace: RankTrace | None = None
    withheld: str = ""
    contradiction: str | None = None
    forwarded: ForwardedReport = field(default_factory=ForwardedReport)
    disturbed: bool = False
    interrupted: bool = False
    interpreted: str = ""


@dataclass(frozen=True, slots=True)
class Remains:
    """The end of a rank's report: final values, and what has to be known to read its messages.

    ``segments`` are those of its journal, if they are short; None where rank 0 has to ask for them.
    ``signals`` have been raised in the decimal context.
    """

    kept: dict[str, Kept]
    returned: Returned
    segments: tuple[bytes, ...] | None
    signals: tuple[str, ...]


def perform(loop: LoopContext, kernel: Callable[..., None], arguments: Sequence[Any]) -> None:
    """Run the kernel to its end.

    Where the body raises, the runtime goes on to the end of the protocol, and runs the kernel again if this
    rank still has iterations before the failing one; `LoopContext.ending` then holds the failure. So it does
    where rank 0 takes iterations back from other ranks. Exceptions raised here are the runtime's own.
    """
    more = True
    while more:
        try:
            kernel(loop, *arguments)
        except BaseException as error:
            error = as_in_program(error, arguments)
            passed = _passed(kernel, error)
            loop.ending.overwritten = _overwritten(loop, passed) if passed is not None else ()
            if not loop.fail(error, *_variables(passed, {*_read_after(kernel), *loop.contributions.bound})):
                raise error
            if not loop.more_work:
                loop.gather()
        more = loop.more_work


def make_driver(
    communicator: Communicator,
    call: LoopCall,
    fields: Sequence[Field],
    objects: SharedObjects,
    loop_residents: Container[int] = (),
    recorder: Recorder | None = None,
) -> AgentDriver:
    """This rank's driver for ``call``; ``loop_residents`` identify the arrays that stay on the ranks."""
    moving = [(field.iteration_bytes(), id(field.data) in loop_residents) for field in fields]
    start = initial_state(
        call.deal,
        call.parameters,
        call.exchange_s or call.parameters.exchange_s,
        sum(size for size, _ in moving),
        call.network,
        call.groups,
        call.within,
        call.known,
        without_rows=call.without_rows,
        root_bytes=sum(size for size, stays in moving if stays),
    )
    setup = AgentSetup(call.strategy, start, call.groups, call.rules, call.network, call.within)
    now = clock()
    agent, chooser = setup.agent(communicator.rank, now)
    if recorder is not None:
        recorder.begin(setup, now)
    return AgentDriver(communicator, call.serial, agent, fields, objects, chooser, loop_residents, recorder)


def own_result(loop: LoopContext, rank: int) -> RankResult:
    """This rank's report to itself."""
    ending = loop.ending
    failure = None
    if ending.error is not None and ending.failed_at is not None:
        failure = Failure(ending.failed_at, rank, ending.error)
    # Values before the last one matter only after a failure.
    failed = failure is not None or loop.team.failed_at != NO_FAILURE or loop.team.ends_independently
    kept = ending.temporaries.kept(everything=failed)
    journal = loop.contributions.journal
    extents = tuple(journal.extents) if journal is not None else ()
    times = loop.walk.times
    samples = tuple(times.samples()) if times else ()
    loop.team.figures.compile_s = loop.compile_s
    trace = loop.team.recorder.trace() if loop.team.recorder is not None else None
    found = RankResult(loop.team.figures, kept, failure, ending.overwritten, extents, samples, trace)
    disturbed = bool(times and times.disturbed)
    reason = loop.left_to_python or ""
    if disturbed or interrupts.pending or reason:
        return replace(found, disturbed=disturbed, interrupted=interrupts.pending, interpreted=reason)
    return found


def result_to_send(own: RankResult, objects: WorkerObjects) -> RankResult:
    """A worker's report to rank 0, without what it `remains_to_send`."""
    failure = capture(own.failure, objects) if own.failure else None
    return replace(own, kept={}, failure=failure)


def remains_to_send(own: RankResult, objects: WorkerObjects, segments: tuple[bytes, ...] | None) -> Remains:
    """The end of a worker's report, after all of its other messages; raises what values' own hooks raise."""
    kept = {
        name: tuple((last, SentValue(objects.rank, objects.pack(value, 0))) for last, value in entries)
        for name, entries in own.kept.items()
    }
    return Remains(kept, objects.returned, segments, raised_signals())


def withheld_result(loop: LoopContext, rank: int, error: BaseException, *, repeatable: bool) -> RankResult:
    """The report of a rank whose results cannot be sent because of ``error``.

    Rank 0 takes the iterations back if it is ``repeatable`` what they did, else the first of them fails.
    """
    figures = loop.team.figures
    if isinstance(error, LeftBehindError | RowsMissingError):
        reason = str(error)
    else:
        reason = f"what its iterations leave cannot leave other ranks ({type(error).__name__}: {error})"
    if repeatable:
        stopped = interrupts.pending
        return RankResult(replace(figures, parts=[]), {}, None, withheld=reason, interrupted=stopped)
    first = min((run.start for run in figures.parts), default=loop.ending.failed_at or 0)
    message = f"{reason}, and the arrays of the routine lie there"
    failure = capture(Failure(first, rank, RuntimeError(message)), WorkerObjects(rank=rank))
    return RankResult(figures, {}, failure, withheld=reason)


def lost_result() -> RankResult:
    """What there is of a rank whose results will not come, since it or another one has died."""
    return RankResult(RunCounters(), {}, None, withheld=RANKS_LOST)


def stored_by(result: RankResult) -> Callable[[Field, Spans], Rows]:
    """The rows that a rank sends back: those of done iterations, and what a failing one may have stored."""

    def stored(field: Field, done: Spans) -> Rows:
        partly = field.spec.mode is Mode.UPDATE or field.name in result.overwritten
        if result.failure is not None and partly:
            position = result.failure.position
            done = done.union(Spans.of(range(position, position + 1)))
        return field.stored(done)

    return stored


def _passed(kernel: Callable[..., None], error: BaseException) -> TracebackType | None:
    """The traceback entry at which ``error`` passed through the kernel's own frame."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code is not kernel.__code__:
        tb = tb.tb_next
    return tb


def _variables(
    passed: TracebackType | None, read_after: Container[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The kernel's variables that are read after the loop, and its parameters, as an exception left them."""
    if passed is None:
        return {}, {}
    code, values = passed.tb_frame.f_code, dict(passed.tb_frame.f_locals)
    parameters = {name: values.pop(name) for name in code.co_varnames[: code.co_argcount] if name in values}
    return {name: value for name, value in values.items() if name in read_after}, parameters


def _read_after(kernel: Callable[..., None]) -> Iterator[str]:
    """The temporaries of a kernel that are read after the loop: it clears them before each run."""
    clearing = False
    for each in dis.get_instructions(kernel):
        if each.argval == "unset":
            clearing = True
        elif clearing and each.opname.startswith("STORE_"):
            yield from each.argval if isinstance(each.argval, tuple) else (each.argval,)
        elif not each.opname.startswith(("COPY", "DUP", "CACHE")):
            clearing = False


def _overwritten(loop: LoopContext, passed: TracebackType) -> tuple[str, ...]:
    """The arrays of mode ``w`` whose row the failing iteration has stored.

    The store is a statement of the body itself, before any other use of the array. So it was executed if the
    failure lies behind it both in the text and in the code: handlers of earlier statements may lie behind it
    in the code alone, later lines of the store itself in the text alone. Where chunks are compiled, the body
    stands behind what they leave to Python, in a loop of its own.
    """
    names = [name for name, spec in loop.table.specs.items() if spec.mode is Mode.WRITE]
    if not names:
        return ()
    code = passed.tb_frame.f_code
    body = _body(code)
    part = range(body, len(code.co_code)) if passed.tb_lasti >= body else range(body)
    places = ((name, _store(code, name.partition(".")[0], part)) for name in names)
    return tuple(
        name
        for name, place in places
        if place is not None and passed.tb_lasti > place[0] and passed.tb_lineno >= place[1]
    )


def _body(code: CodeType) -> int:
    """The offset of a kernel's call that begins the loop with the body."""
    session = code.co_varnames[0]
    for before, each in pairwise(dis.get_instructions(code)):
        if each.argval in ("iterations", "pairs") and session in (before.argval, *_first(before.argval)):
            return each.offset
    return 0


def _store(code: CodeType, name: str, part: range) -> tuple[int, int] | None:
    """The offset and line of the first store to a subscript of an expression that begins with ``name``.

    It is looked for among the offsets of a ``part`` of the code.
    """
    loaded: set[tuple[int | None, int | None]] = set()
    for each in (each for each in dis.get_instructions(code) if each.offset in part):
        start = None if each.positions is None else (each.positions.lineno, each.positions.col_offset)
        if each.opname.startswith("LOAD_") and name in (each.argval, *_first(each.argval)):
            loaded |= {start} if start is not None else set()
        elif each.opname == "STORE_SUBSCR" and start in loaded and start is not None and start[0] is not None:
            return each.offset, start[0]
    return None


def _first(argument: object) -> tuple[object, ...]:
    """The first of the names that one instruction loads."""
    return argument[:1] if isinstance(argument, tuple) else ()


def recorder(now: float) -> Recorder:
    """The recorder of a run that begins now, for runs that are traced."""
    from dlbrt.observe.recorder import Recorder

    return Recorder(now)
