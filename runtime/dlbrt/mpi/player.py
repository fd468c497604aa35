"""The other ranks: they serve rank 0's loops until it ends."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from dlbrt.core.load import Load
from dlbrt.dist.field import Field
from dlbrt.dist.memory import release
from dlbrt.mpi import modules, packing
from dlbrt.mpi.call import Call
from dlbrt.mpi.contents import Library, resident_ids, shared_fields
from dlbrt.mpi.crew import Crew
from dlbrt.mpi.elements import Elements
from dlbrt.mpi.footprints import unpack_tables
from dlbrt.mpi.kernels import named
from dlbrt.mpi.logbook import Logbook
from dlbrt.mpi.loop import Loop
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.objects import Objects
from dlbrt.mpi.packing import Slot
from dlbrt.mpi.parcels import Delivery, Errand, Parcel, row_field
from dlbrt.mpi.perform import form_crew, perform, recorder, result_to_send, stored_by
from dlbrt.mpi.repeats import Repeats
from dlbrt.mpi.team import Team, clock
from dlbrt.mpi.wire import COMMAND, RESULT, Wire
from dlbrt.options import Options

__all__ = ["serve"]


def serve(wire: Wire, options: Options) -> None:
    """Run loops as rank 0 commands until it says that it ends (an empty message)."""
    player, repeats = _Player(wire, options), Repeats()
    while message := wire.wait_bytes(0, COMMAND)[1]:
        command = pickle.loads(message)
        if isinstance(command, Errand):
            player.run(command)
        else:
            player.play(repeats.restored(command))


class _Player:
    def __init__(self, wire: Wire, options: Options) -> None:
        self._wire = wire
        self._options = options
        self._library = Library(wire)
        self._bodies: dict[str, bytes] = {}
        self._kernels: dict[str, tuple[Callable[..., None], list[Any]]] = {}

    def run(self, errand: Errand) -> None:
        """Send what rank 0 asks for."""
        self._deliver(errand.parcels).complete()

    def _deliver(self, parcels: Sequence[Parcel]) -> Delivery:
        fields = {p.number: row_field(self._library.kept(p.number), p.axis) for p in parcels}
        return Delivery(self._wire, parcels, fields)

    def play(self, call: Call) -> None:
        """One call: the kernel with this rank's copies of the arrays, then the results to rank 0."""
        if call.surroundings is not None:
            call.surroundings.apply()
        self._library.forget(call.dropped)
        body = self._bodies[call.key] if call.body is None else call.body
        self._bodies[call.key] = body
        slots = self._library.fill(call.headers)
        if call.kernel is not None:
            self._kernels[call.key] = packing.unpack(call.kernel, (), Objects())
        _, common = self._kernels.get(call.key, (None, []))
        (kernel, arguments, space, data), met = packing.unpack(body, slots, Objects(lambda: common))
        kernel, common = self._kernels[call.key] if kernel is None else (kernel, [])
        objects = Objects(lambda: common, lambda: slots, lambda: met)
        modules.apply(data)
        if call.settings is not None:
            objects.loads(call.settings).apply()
        arguments = [_resolved(value, slots) for value in arguments]
        values = [_resolved(part.values, slots) for part in space.parts]
        fields: list[Field] = []
        travelling: list[Field] = []
        staying = resident_ids(slots, call.headers)
        elements: list[Elements] = []
        logbook = Logbook(self._wire, objects, call.shown)
        by_name = named(kernel, arguments)

        def launch(loop: Loop) -> Team:
            found = loop.table.fields(by_name, loop.space)
            found = unpack_tables(found, slots, call.tables)
            fields.extend(shared_fields(found, slots, call.headers))
            taken_down = recorder(clock()) if self._options.trace else None
            crew = form_crew(self._wire, call, fields, objects, staying, taken_down)
            travelling.extend(each for each in fields if id(each.data) not in staying)
            self._scatter(crew, travelling, objects)
            ahead = call.ahead[self._wire.rank] if call.ahead else range(0)
            loop.walk.await_rows(self._deliver(call.parcels), ahead)
            for spare in call.spared:
                loop.walk.rows_arrived()
                release(self._library.kept(spare.number), spare.axis, spare.rows[self._wire.rank])
            if call.measured:
                from dlbrt.core.partition.profiling import GroupTimes

                loop.walk.times = GroupTimes(len(space), call.measured)
            elements.append(Elements(self._wire, fields, objects))
            loop.contributions.share(logbook.journal, by_name)
            logbook.open(loop.walk.ordinal)
            return crew

        def finish(loop: Loop) -> None:
            logbook.close()
            self._give_back(loop, travelling, objects, elements[0])
            logbook.serve()

        load = Load(self._options.load, self._wire.rank)
        perform(Loop(space.with_values(iter(values)), launch, finish, load), kernel, arguments)

    def _scatter(self, crew: Crew, fields: list[Field], objects: Objects) -> None:
        mover = Mover(self._wire, fields, objects)
        held = crew.held(self._wire.rank)
        mover.prepare(held)
        mover.receive(held, 0, Field.scattered)
        mover.complete()

    def _give_back(self, loop: Loop, fields: list[Field], objects: Objects, elements: Elements) -> None:
        result = result_to_send(loop, self._wire.rank, objects)
        message = pickle.dumps(result)
        sending = self._wire.send_bytes(message, 0, RESULT)
        mover = Mover(self._wire, fields, objects)
        mover.send(result.figures.done, 0, stored_by(result))
        elements.send()
        mover.complete()
        elements.sent()
        self._wire.complete([sending])


def _resolved(value: Any, slots: list[Any]) -> Any:
    return slots[value.number] if isinstance(value, Slot) else value
