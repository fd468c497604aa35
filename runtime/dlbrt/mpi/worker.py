"""The ranks above 0: they serve rank 0's loops until it ends."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dlbrt.data.field import Field
from dlbrt.data.memory import release
from dlbrt.data.spans import Spans
from dlbrt.emulation import Load
from dlbrt.mpi.call import CallCache, LoopCall, unpack_tables
from dlbrt.mpi.communicator import COMMAND, DATA, RESULT, VERDICT, Communicator
from dlbrt.mpi.driver import AgentDriver
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.perform import (
    RankResult,
    make_driver,
    own_result,
    perform,
    recorder,
    remains_to_send,
    result_to_send,
    stored_by,
    withheld_result,
)
from dlbrt.mpi.routines.loop_residents import ArrayTransfer, FetchRequest, PendingTransfers, row_field
from dlbrt.mpi.run_journal import ElementGather, RunJournal
from dlbrt.mpi.standard_output import WorkerOutput
from dlbrt.mpi.team import Team, clock
from dlbrt.mpi.values import packing
from dlbrt.mpi.values import program_state as modules
from dlbrt.mpi.values.contents import SlotCache, resident_ids, shared_fields
from dlbrt.mpi.values.objects import KnownObjects, WorkerObjects
from dlbrt.mpi.values.packing import Slot, named
from dlbrt.mpi.watch import Watch, watch_of
from dlbrt.options import Options


def serve(communicator: Communicator, options: Options) -> None:
    """Run loops at rank 0's command until an empty message ends this rank's service."""
    worker, calls = _Worker(communicator, options), CallCache()
    while message := communicator.wait_bytes(0, COMMAND)[1]:
        command = pickle.loads(message)
        if isinstance(command, FetchRequest):
            worker.deliver(command.array_transfers).complete()
        else:
            worker.run_call(calls.restored(command))


class _Worker:
    def __init__(self, communicator: Communicator, options: Options) -> None:
        self._communicator = communicator
        self._options = options
        self._slot_cache = SlotCache(communicator)
        self._output = WorkerOutput()
        self._bodies: dict[str, bytes] = {}
        self._kernels: dict[str, tuple[Callable[..., None], list[Any]]] = {}

    def deliver(self, array_transfers: Sequence[ArrayTransfer]) -> PendingTransfers:
        """Start this rank's part in transfers of rows."""
        fields = {p.number: row_field(self._slot_cache.kept(p.number), p.axis) for p in array_transfers}
        return PendingTransfers(self._communicator, array_transfers, fields)

    def run_call(self, call: LoopCall) -> None:
        """One call: the kernel with this rank's copies of the arrays, then the results to rank 0."""
        if call.environment is not None:
            call.environment.apply()
        self._slot_cache.forget(call.dropped)
        body = self._bodies[call.key] if call.body is None else call.body
        self._bodies[call.key] = body
        slots = self._slot_cache.fill(call.headers)
        if call.kernel is not None:
            self._kernels[call.key] = packing.unpack(call.kernel, (), KnownObjects())
        _, common = self._kernels.get(call.key, (None, []))
        (kernel, arguments, in_objects, space, data), met = packing.unpack(
            body, slots, KnownObjects(lambda: common)
        )
        kernel, common = self._kernels[call.key] if kernel is None else (kernel, [])
        objects = WorkerObjects(lambda: slots, lambda: met, rank=self._communicator.rank)
        modules.apply(data)
        if call.settings is not None:
            objects.loads(call.settings).apply()
        arguments = [_resolved(value, slots) for value in arguments]
        values = [_resolved(part.values, slots) for part in space.parts]
        fields: list[Field] = []
        travelling: list[Field] = []
        loop_residents = resident_ids(slots, call.headers)
        elements: list[ElementGather] = []
        watches: list[Watch] = []
        run_journal = RunJournal(self._communicator, objects, call.output_properties)
        by_name, rank = named(kernel, arguments), self._communicator.rank

        def launch(loop: LoopContext) -> Team:
            found = unpack_tables(loop.table.fields(by_name, loop.space), slots, call.tables)
            fields.extend(shared_fields(found, slots, call.headers))
            trace = recorder(clock()) if self._options.trace else None
            driver = make_driver(self._communicator, call, fields, objects, loop_residents, trace)
            travelling.extend(each for each in fields if id(each.data) not in loop_residents)
            self._scatter(driver, travelling, objects)
            loop.walk.await_rows(
                self.deliver(call.array_transfers), call.ahead[rank] if call.ahead else range(0)
            )
            for eviction in call.evictions:
                loop.walk.complete_delivery()
                release(self._slot_cache.kept(eviction.number), eviction.axis, eviction.rows[rank])
            loop.walk.measure(call.measured)
            elements.append(ElementGather(self._communicator, fields, objects))
            contributions = loop.contributions
            contributions.share(run_journal.journal, by_name | in_objects)
            contributions.find_places(by_name)
            if call.watched:
                held = driver.held(rank)
                reached = kernel, by_name, slots, fields, loop_residents
                watches.append(watch_of(loop, *reached, held, whole=False))
            self._output.begin()
            run_journal.open(loop.walk)
            return driver

        def finish(loop: LoopContext) -> None:
            run_journal.close()
            own, mover = own_result(loop, rank), Mover(self._communicator, travelling, objects)
            remains = b""
            try:
                result = result_to_send(own, objects)
                mover.pack(own.figures.done, stored_by(own))
                elements[0].pack()
                # Last: it says what has to be known to read the others.
                remains = pickle.dumps(remains_to_send(own, objects))
                run_journal.check()
            except Exception as error:  # objects' own pickling hooks may raise anything
                result = withheld_result(loop, rank, error, repeatable=not loop_residents)
            bypassed = self._output.bypassed()
            if watches:
                result = replace(result, contradiction=_contradiction(watches[0], loop) or bypassed)
            else:
                self._output.pass_on(rank)
            self._communicator.complete([self._communicator.send_bytes(pickle.dumps(result), 0, RESULT)])
            if watches and not self._communicator.wait_bytes(0, VERDICT)[1]:
                return  # rank 0 does without what this rank has done
            if not result.withheld:
                self._give_back(result, mover, elements[0], remains)
                run_journal.serve()

        load = Load(self._options.load, rank)
        perform(LoopContext(space.with_values(iter(values)), launch, finish, load), kernel, arguments)

    def _scatter(self, driver: AgentDriver, fields: list[Field], objects: WorkerObjects) -> None:
        mover = Mover(self._communicator, fields, objects)
        held = driver.held(self._communicator.rank)
        mover.prepare(held)
        mover.receive(held, 0, Field.scattered)
        mover.complete()

    def _give_back(self, result: RankResult, mover: Mover, elements: ElementGather, remains: bytes) -> None:
        mover.send(result.figures.done, 0, stored_by(result))
        elements.send()
        sending = self._communicator.send_bytes(remains, 0, DATA)
        mover.complete()
        elements.sent()
        self._communicator.complete([sending])


def _contradiction(watch: Watch, loop: LoopContext) -> str | None:
    """What this rank has changed though the plan says that it does not."""
    done, failed_at = loop.team.figures.done, loop.ending.failed_at
    if failed_at is not None:
        done = done.union(Spans.of(range(failed_at, failed_at + 1)))
    received = loop.team.received if isinstance(loop.team, AgentDriver) else ()
    return watch.contradiction(done, received)


def _resolved(value: Any, slots: list[Any]) -> Any:
    return slots[value.number] if isinstance(value, Slot) else value
