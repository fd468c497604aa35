"""Running a kernel on one rank, failures of its body included; the same on rank 0 and on the others."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dlbrt.contract import Mode
from dlbrt.core.agent import Start
from dlbrt.core.books import Terms
from dlbrt.core.profile import NO_FAILURE
from dlbrt.core.setup import Setup
from dlbrt.dist.field import Field
from dlbrt.dist.footprint import Rows
from dlbrt.dist.spans import Spans
from dlbrt.effects.segments import Extent
from dlbrt.mpi.call import Call
from dlbrt.mpi.crew import Crew
from dlbrt.mpi.failure import Failure, capture
from dlbrt.mpi.loop import Loop
from dlbrt.mpi.objects import Objects
from dlbrt.mpi.team import Figures, clock
from dlbrt.mpi.temporaries import Kept
from dlbrt.mpi.wire import Wire
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.core.partition.density import Sample
    from dlbrt.observe.recorder import Recorder
    from dlbrt.observe.trace import RankTrace

__all__ = ["Result", "Sent", "form_crew", "own_result", "perform", "recorder", "result_to_send", "stored_by"]


@dataclass(frozen=True, slots=True)
class Sent:
    """A value that has left its rank as a pickle, or why it could not."""

    data: bytes
    obstacle: str = ""

    def value(self, name: str, objects: Objects) -> Any:
        """The value; RuntimeError if it could not leave its rank."""
        if self.obstacle:
            raise RuntimeError(f"the value of {name!r} after the loop cannot leave its rank: {self.obstacle}")
        return objects.loads(self.data)


@dataclass(frozen=True, slots=True)
class Result:
    """What one rank has to report at the end: figures, final values, the body's failure.

    ``kept`` are the values left in temporaries, themselves on the rank that reports to itself, else each a
    `Sent`. ``extents`` are those of the segments of its journal,
    ``samples`` the times of groups of iterations, where they were wanted, and ``trace`` what happened.
    """

    figures: Figures
    kept: dict[str, Kept]
    failure: Failure | None
    extents: tuple[Extent, ...] = ()
    samples: tuple[Sample, ...] = ()
    trace: RankTrace | None = None


def perform(loop: Loop, kernel: Callable[..., None], arguments: Sequence[Any]) -> None:
    """Run the kernel to its end.

    Where the body raises, the runtime goes on to the end of the protocol, with the kernel again if this
    rank still has iterations before the failing one; `Loop.ending` then tells of the failure. What is
    raised here is raised by the runtime itself.
    """
    while True:
        try:
            kernel(loop, *arguments)
        except BaseException as error:
            if not loop.fail(error, *_variables(kernel, error)):
                raise
        else:
            return
        if not loop.more_work:
            loop.gather()
            return


def form_crew(
    wire: Wire,
    call: Call,
    fields: Sequence[Field],
    objects: Objects,
    staying: Container[int] = (),
    recorder: Recorder | None = None,
) -> Crew:
    """The crew that runs ``call``, as this rank sees it; ``staying`` are arrays that stay on the ranks."""
    deal, iteration_bytes = call.deal, sum(field.iteration_bytes() for field in fields)
    terms = Terms(
        deal.units,
        call.parameters,
        call.exchange_s or call.parameters.exchange_s,
        deal.amounts,
        2 * iteration_bytes if deal.units.folded else iteration_bytes,
        _exchanges(call),
        call.network.all_to_all,
        call.bare,
    )
    objects.fields = fields
    start = Start(deal.shares, terms, call.known, begins=True)
    setup = Setup(call.strategy, start, call.groups, call.rules, call.network, call.within)
    now = clock()
    agent, chooser = setup.agent(wire.rank, now)
    if recorder is not None:
        recorder.begin(setup, now)
    return Crew(wire, call.serial, agent, fields, objects, chooser, staying, recorder)


def _exchanges(call: Call) -> dict[tuple[int, ...], float]:
    """What an exchange of profiles costs in each group of a local strategy."""
    networks = call.within or (call.network,) * len(call.groups)
    return {
        tuple(group): network.all_to_all.seconds(len(group))
        for group, network in zip(call.groups, networks, strict=True)
    }


def own_result(loop: Loop, rank: int) -> Result:
    """This rank's report to itself."""
    ending = loop.ending
    failure = None
    if ending.error is not None and ending.failed_at is not None:
        failure = Failure(ending.failed_at, rank, ending.error)
    # What came before the last matters only after a failure.
    failed = failure is not None or loop.team.failed_at != NO_FAILURE or loop.team.apart
    kept = ending.temporaries.kept(everything=failed)
    journal = loop.contributions.journal
    extents = tuple(journal.extents) if journal is not None else ()
    times = loop.walk.times
    samples = tuple(times.samples()) if times else ()
    trace = loop.team.recorder.trace() if loop.team.recorder is not None else None
    return Result(loop.team.figures, kept, failure, extents, samples, trace)


def result_to_send(loop: Loop, rank: int, objects: Objects) -> Result:
    """This rank's report to rank 0."""
    own = own_result(loop, rank)
    kept = {
        name: tuple((last, _sent(value, objects)) for last, value in entries)
        for name, entries in own.kept.items()
    }
    failure = capture(own.failure, objects) if own.failure else None
    return replace(own, kept=kept, failure=failure)


def _sent(value: Any, objects: Objects) -> Sent:
    try:
        return Sent(objects.dumps(value, back=True))
    except Exception as error:  # the pickler raises whatever the objects' own hooks raise
        return Sent(b"", str(error))


def stored_by(result: Result) -> Callable[[Field, Spans], Rows]:
    """The rows that a rank has to give back: of done iterations, and what a failing one may have stored."""

    def stored(field: Field, done: Spans) -> Rows:
        if result.failure is not None and field.spec.mode is Mode.UPDATE:
            position = result.failure.position
            done = done.union(Spans.of(range(position, position + 1)))
        return field.stored(done)

    return stored


def _variables(kernel: Callable[..., None], error: BaseException) -> tuple[dict[str, Any], dict[str, Any]]:
    """The kernel's local variables and, apart, its parameters, where ``error`` passed through it."""
    code = kernel.__code__
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code is not code:
        tb = tb.tb_next
    if tb is None:
        return {}, {}
    values = dict(tb.tb_frame.f_locals)
    parameters = {name: values.pop(name) for name in code.co_varnames[: code.co_argcount] if name in values}
    return values, parameters


def recorder(now: float) -> Recorder:
    """What takes down a run that begins now; asked for where there is to be a trace."""
    from dlbrt.observe.recorder import Recorder

    return Recorder(now)
