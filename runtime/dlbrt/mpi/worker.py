"""The ranks above 0: they serve rank 0's loops until it ends."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dlbrt.data.field import Field, overwriting
from dlbrt.data.memory import release
from dlbrt.data.spans import Spans
from dlbrt.emulation import Load
from dlbrt.mpi.board import board
from dlbrt.mpi.call import CallCache, CalledOffError, LoopCall, RepeatedCall, unpack_tables
from dlbrt.mpi.communicator import PACKED, RESULT, VERDICT, Communicator, RanksLostError
from dlbrt.mpi.driver import AgentDriver
from dlbrt.mpi.early_imports import import_early
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.output.live_output import ForwardedOutput
from dlbrt.mpi.output.run_journal import ElementGather, RunJournal
from dlbrt.mpi.output.standard_output import WorkerOutput
from dlbrt.mpi.perform import (
    ROWS_MISSING,
    RankResult,
    RowsMissingError,
    make_driver,
    own_result,
    perform,
    recorder,
    remains_to_send,
    result_to_send,
    stored_by,
    withheld_result,
)
from dlbrt.mpi.routines.loop_residents import (
    ArrayTransfer,
    Eviction,
    PendingTransfers,
    RowRequests,
    hold_only_coming,
    row_field,
)
from dlbrt.mpi.team import Team, clock
from dlbrt.mpi.values import left_behind, packing
from dlbrt.mpi.values import program_modules as modules
from dlbrt.mpi.values.contents import SlotCache, resident_ids, shared_fields
from dlbrt.mpi.values.kernels import named
from dlbrt.mpi.values.objects import KnownObjects, WorkerObjects
from dlbrt.mpi.values.packing import Slot
from dlbrt.mpi.values.program_state import forget_signals
from dlbrt.mpi.watch import Watch, watch_of
from dlbrt.options import Options

if TYPE_CHECKING:
    from dlbrt.mpi.output.progress import ProgressReporter
    from dlbrt.mpi.routines.run_repeater import PassesCommand, RepeatCommand, RepeatPlan, WorkerRepeats
    from dlbrt.native.chunk_spec import ChunkSpec


def serve(communicator: Communicator, options: Options, *, late: bool) -> None:
    """Run loops at rank 0's command until an empty message ends this rank's service.

    ``late``: the program has begun, and has imported on this rank too.
    """
    if not late:
        import_early()
    output = WorkerOutput()
    while True:
        try:
            _serve(communicator, _Worker(communicator, options, output))
            return
        except RanksLostError as error:
            from dlbrt.mpi.tolerance import TolerantCommunicator

            assert isinstance(communicator, TolerantCommunicator), "no other raises this"
            communicator.recover(error)  # its traceback leads to all that messages under way may need


def _serve(communicator: Communicator, worker: _Worker) -> None:
    calls = CallCache()
    while message := communicator.wait_for_command():
        command = pickle.loads(message)
        if isinstance(command, LoopCall | RepeatedCall):
            worker.run_call(calls.restored(command))
        elif isinstance(command, list):
            worker.send_rows(command)
        else:
            worker.repeat(command)


class _Worker:
    def __init__(self, communicator: Communicator, options: Options, output: WorkerOutput) -> None:
        self.communicator = communicator
        self.options = options
        self.output = output
        self._slot_cache = SlotCache(communicator)
        self._bodies: dict[str, bytes] = {}
        self._kernels: dict[str, tuple[Callable[..., None], list[Any]]] = {}
        self._read: dict[str, tuple[Any, list[Any]]] = {}  # what plain bodies hold
        self._repeats: WorkerRepeats | None = None

    def deliver(self, array_transfers: Sequence[ArrayTransfer]) -> PendingTransfers:
        """Start sending what other ranks need of rows here."""
        fields = {p.number: row_field(self._slot_cache.kept(p.number), p.axis) for p in array_transfers}
        return PendingTransfers(self.communicator, array_transfers, fields)

    def send_rows(self, requests: RowRequests) -> None:
        """Send rank 0 the rows that it asks for."""
        mover = Mover(self.communicator, (), WorkerObjects(rank=self.communicator.rank))
        for number, axis, rows in requests:
            mover.send_rows(row_field(self._slot_cache.kept(number), axis), rows, 0)
        mover.complete()

    def run_call(self, call: LoopCall) -> None:
        """One call: the kernel with this rank's copies of the arrays, then the results to rank 0."""
        called = clock()
        board.begin(call.source)
        try:
            self._run_call(call, called)
        finally:
            board.end()

    def _run_call(self, call: LoopCall, called: float) -> None:
        if call.environment is not None:
            call.environment.apply()
        left_behind.forget_uses()
        forget_signals()
        self._slot_cache.forget(call.dropped)
        if self._repeats is not None:
            self._repeats.forget(call.dropped)
        slots = self._slot_cache.fill(call.headers)
        made = {token: self._slot_cache.kept(token) for token in self._slot_cache.made}
        hold_only_coming(made, call.array_transfers, self.communicator.rank)
        transfers = self.deliver(call.array_transfers)  # rank 0 waits for its rows meanwhile
        try:
            with self._reading(call):
                (kernel, arguments, in_objects, space, data, _), objects = self._unpacked(call, slots)
                if call.samples is not None:
                    objects.loads(call.samples)
                modules.apply(data)
                if call.settings is not None:
                    objects.loads(call.settings).apply()
        except CalledOffError:  # rank 0 runs the loop alone
            return
        arguments = [_resolved(value, slots) for value in arguments]
        values = [_resolved(part.values, slots) for part in space.parts]
        by_name = named(kernel, arguments)
        run = _WorkerRun(self, call, slots, objects, transfers, kernel, by_name, in_objects, called)
        load = Load(self.options.load, self.communicator.started_as)
        loop = LoopContext(space.with_values(iter(values)), run.launch, run.finish, load)
        loop.threads = self.options.threads or 1
        interrupts.watch(None if call.undisturbed else loop.walk, perform.__code__)
        try:
            perform(loop, kernel, arguments)
        except RanksLostError:
            run.call_off()
            raise
        finally:
            interrupts.watch(None)
            interrupts.taken()
        if loop.walk.chunks is not None and resident_ids(slots, call.headers):
            self._learn_to_repeat(call.key, loop.walk.chunks.spec)

    def _learn_to_repeat(self, key: str, spec: ChunkSpec) -> None:
        from dlbrt.mpi.routines.run_repeater import WorkerRepeats

        if self._repeats is None:
            threads = self.options.threads or 1
            self._repeats = WorkerRepeats(self.communicator, threads, self._slot_cache.kept, self.evict)
        self._repeats.specs[key] = spec

    def repeat(self, command: RepeatPlan | RepeatCommand | PassesCommand) -> None:
        """Repeat runs of loops that have run here, or take over how one is repeated."""
        from dlbrt.mpi.routines.run_repeater import PassesCommand

        assert self._repeats is not None
        if isinstance(command, tuple):
            self._repeats.run(command)
        elif isinstance(command, PassesCommand):
            self._repeats.run_passes(command)
        else:
            self._repeats.add(command)

    def evict(self, evictions: Sequence[Eviction]) -> None:
        """Give up rows of arrays that stay on the ranks."""
        for eviction in evictions:
            rows = eviction.rows[self.communicator.rank]
            release(self._slot_cache.kept(eviction.number), eviction.axis, rows)

    @contextmanager
    def _reading(self, call: LoopCall) -> Iterator[None]:
        """In the block this rank reads what a call has brought, which may run code of the program's classes.

        CalledOffError where this or another rank could not read it; if that is in doubt, all ranks hear.
        """
        if not call.in_doubt:
            yield
            return
        reason = ""
        try:
            yield
        except BaseException as error:  # objects' own hooks may raise anything
            reason = f"{type(error).__name__}: {error}"
        send = self.communicator.send_bytes
        self.communicator.complete([send(reason.encode(errors="replace"), 0, VERDICT)])
        if not self.communicator.wait_bytes(0, VERDICT)[1]:
            raise CalledOffError(reason)

    def _unpacked(self, call: LoopCall, slots: list[Any]) -> tuple[Any, WorkerObjects]:
        """What the body of a call holds, with its kernel, and the objects met in both."""
        body = self._bodies[call.key] if call.body is None else call.body
        self._bodies[call.key] = body
        if call.kernel is not None:
            self._kernels[call.key] = packing.unpack(call.kernel, (), KnownObjects())
        sent, common = self._kernels.get(call.key, (None, []))
        read = self._read.pop(call.key, None)
        if read is None or call.body is not None or call.kernel is not None:
            read = packing.unpack(body, slots, KnownObjects(lambda: common))
        if call.plain:
            self._read[call.key] = read
        (kernel, *others), met = read
        objects = WorkerObjects(lambda: slots, lambda: met, rank=self.communicator.rank)
        return (sent if kernel is None else kernel, *others), objects


class _WorkerRun:
    """A worker's part in a loop on all ranks, which `dlbrt.mpi.root.shared_run` leads.

    ``transfers`` are those of resident arrays, ``by_name`` the kernel's arguments; ``in_objects`` describe
    what iterations contribute to through objects; the call came at the time ``called``.
    """

    def __init__(
        self,
        worker: _Worker,
        call: LoopCall,
        slots: list[Any],
        objects: WorkerObjects,
        transfers: PendingTransfers,
        kernel: Callable[..., None],
        by_name: Mapping[str, Any],
        in_objects: dict[str, Any],
        called: float,
    ) -> None:
        self._worker, self._call = worker, call
        self._communicator, self._rank = worker.communicator, worker.communicator.rank
        self._slots, self._objects, self._transfers = slots, objects, transfers
        self._kernel, self._by_name, self._in_objects = kernel, by_name, in_objects
        self._loop_residents = resident_ids(slots, call.headers)
        self._run_journal = RunJournal(self._communicator, objects, call.output_properties)
        self._travelling: list[Field] = []
        self._elements = ElementGather(self._communicator, (), objects)
        self._watch: Watch | None = None
        self._called = called
        self._live: ForwardedOutput | None = None
        self._progress: ProgressReporter | None = None

    def launch(self, loop: LoopContext) -> Team:
        """This rank's driver, once its rows are there."""
        call, objects, residents = self._call, self._objects, self._loop_residents
        found = unpack_tables(loop.table.fields(self._by_name, loop.space), self._slots, call.tables)
        fields = overwriting(shared_fields(found, self._slots, call.headers), call.overwritten)
        trace = recorder(clock()) if self._worker.options.trace else None
        driver = make_driver(self._communicator, call, fields, objects, residents, trace)
        self._travelling = [each for each in fields if id(each.data) not in residents]
        self._receive(driver.held(self._rank), fields)
        ahead = call.ahead[self._rank] if call.ahead else range(0)
        loop.walk.await_rows(self._transfers.receive(), ahead)
        if call.evictions:
            loop.walk.complete_delivery()
            self._worker.evict(call.evictions)
        loop.walk.measure(call.measured)
        if self._worker.options.progress:
            from dlbrt.mpi.output.progress import ProgressReporter

            self._progress = ProgressReporter(self._communicator, call.serial)
            loop.walk.count = self._progress.count
        self._elements = ElementGather(self._communicator, fields, objects)
        loop.contributions.share(self._run_journal.journal, {**self._by_name, **self._in_objects})
        loop.contributions.find_places(self._by_name)
        if call.watched:
            reached = self._kernel, self._by_name, self._slots, fields, residents
            self._watch = watch_of(loop, *reached, driver.held(self._rank), whole=False)
        self._worker.output.begin()
        if call.live:
            self._live = ForwardedOutput(self._communicator, call.serial, call.output_properties)
            driver.poll_output = self._live.poll
        self._run_journal.open(loop.walk, live=self._live)
        driver.figures.begun_s = clock() - self._called
        return driver

    def finish(self, loop: LoopContext) -> None:
        """Report to rank 0, and give back what it wants to have."""
        self._run_journal.close()
        if self._progress is not None:
            self._progress.end()
        mover = Mover(self._communicator, self._travelling, self._objects)
        result, remains = self._packed(loop, mover)
        bypassed = self._worker.output.bypassed()
        if self._watch is not None:
            found = left_behind.use() or _contradiction(self._watch, loop) or bypassed
            result = replace(result, contradiction=found)
        else:
            self._worker.output.pass_on(self._rank)
        if self._live is not None:
            result = replace(result, forwarded=self._live.finish())
        self._communicator.complete([self._communicator.send_bytes(pickle.dumps(result), 0, RESULT)])
        if self._live is not None:
            self._live.complete()
        if self._watch is not None and not self._communicator.wait_bytes(0, VERDICT)[1]:
            return  # rank 0 does without what this rank has done
        if not result.withheld:
            self._give_back(result, mover, remains)
            self._run_journal.serve()

    def call_off(self) -> None:
        """What this rank has done is to have no effect, since a rank has died."""
        self._run_journal.call_off()
        self._worker.output.begin()

    def _packed(self, loop: LoopContext, mover: Mover) -> tuple[RankResult, bytes]:
        """The report, and the last message; everything else that is sent by pickle has been packed then."""
        own = own_result(loop, self._rank)
        if own.failure is not None and self._call.overwritten:
            return withheld_result(loop, self._rank, RowsMissingError(ROWS_MISSING), repeatable=True), b""
        try:
            left_behind.check_uses()
            result = result_to_send(own, self._objects)
            mover.pack(own.figures.done, stored_by(own))
            self._elements.pack()
            # Last: it says what has to be known to read the others.
            remains = pickle.dumps(remains_to_send(own, self._objects, self._run_journal.short()))
            self._run_journal.check()
        except BaseException as error:  # objects' own pickling hooks may raise anything
            return withheld_result(loop, self._rank, error, repeatable=not self._loop_residents), b""
        return result, remains

    def _receive(self, held: Spans, fields: Sequence[Field]) -> None:
        """Receive the rows of the iterations that this rank begins with; those of residents come apart."""
        Mover(self._communicator, fields, self._objects).prepare(held)
        mover = Mover(self._communicator, self._travelling, self._objects)
        mover.hold_only(held)
        mover.receive(held, 0, Field.scattered)
        mover.complete()

    def _give_back(self, result: RankResult, mover: Mover, remains: bytes) -> None:
        mover.send(result.figures.done, 0, stored_by(result))
        self._elements.send()
        sending = self._communicator.send_bytes(remains, 0, PACKED)
        mover.complete()
        self._elements.sent()
        self._communicator.complete([sending])


def _contradiction(watch: Watch, loop: LoopContext) -> str | None:
    """What this rank has changed though the plan says that it does not."""
    received = loop.team.received if isinstance(loop.team, AgentDriver) else ()
    return watch.contradiction(loop.tried, received)


def _resolved(value: Any, slots: list[Any]) -> Any:
    return slots[value.number] if isinstance(value, Slot) else value
