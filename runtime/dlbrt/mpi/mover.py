"""Rows between ranks: scattered at the start, moved with work, gathered at the end.

Sender and receiver both know the array table and the iterations concerned, so both work out the same
rows, and messages carry contents alone, for each field and peer: straight from and into array memory where
the rows lie in large blocks (`dlbrt.mpi.regions`), packed where they do not. Lists travel as pickles.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from dlbrt.data.field import Field, positions, put, receive_buffer, take
from dlbrt.data.footprint import Rows, count, union
from dlbrt.data.index_vector import IntegerArray
from dlbrt.data.memory import Array, allocate, hold_only, layout_of, prefer_large_pages
from dlbrt.data.object_state import restore
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import Transfer
from dlbrt.data.work_table import Units
from dlbrt.mpi.communicator import DATA, PACKED, Communicator
from dlbrt.mpi.regions import MemoryRegion, regions_of, touched_region
from dlbrt.mpi.team import RunCounters, clock
from dlbrt.mpi.values.generators import are_seeds
from dlbrt.mpi.values.objects import SharedObjects
from dlbrt.reductions.operations import IMMUTABLE

RowSelector = Callable[[Field, Spans], Rows]

#: How long rank 0 works while what it has scattered is under way: a latency, and the time of the bytes at a
#: quarter of the speed of a copy.
_UNDERWAY_S, _UNDERWAY_BYTES_PER_S = 2e-3, 2e9

#: Rows along each of two axes.
RowBlock = tuple[tuple[int, Rows], tuple[int, Rows]]


class Mover:
    """Sends and receives the rows of ``fields``; ``bytes_sent`` and ``bytes_received`` count
    what this rank sent, and what rows others sent it.

    Where ranks may die, rank 0 puts nothing in place before all has come: a message that a death has called
    off may still arrive, and must not do so in an array of the program.
    """

    def __init__(
        self,
        communicator: Communicator,
        fields: Sequence[Field],
        objects: SharedObjects,
    ) -> None:
        self._in_drafts = communicator.tolerates_deaths and not communicator.rank
        self._drafts: dict[int, Array] = {}  # by field: the rows that come, in an array of the same layout
        self._drafted: list[tuple[Field, Rows]] = []
        self._communicator = communicator
        self._fields = fields
        self._objects = objects
        self._held: list[Any] = []
        self._pickled: dict[int, bytes] = {}
        self._regions: list[MemoryRegion] = []
        self._requests: list[MPI.Request] = []
        self._landed: list[tuple[Field, Rows, np.ndarray[Any, Any]]] = []
        self._blocks: list[tuple[Array, tuple[IntegerArray, ...], Array]] = []
        self._lists: list[tuple[Field, Rows, int, bytearray]] = []
        self.bytes_sent = self.bytes_received = 0

    def hold_only(self, spans: Spans) -> None:
        """Give back what is left in memory of rows that iterations ``spans`` do not use."""
        for field in self._fields:
            if not isinstance(field.data, list) and field.by_rows:
                hold_only(field.data, field.axis, union(field.needed(spans), field.stored(spans)))

    def prepare(self, spans: Spans) -> None:
        """Ask for large pages in the memory that iterations ``spans`` are going to fill."""
        for field in self._fields:
            if isinstance(field.data, list) or field.tables is not None or not field.by_rows:
                continue  # scattered rows are not one region
            rows = union(field.needed(spans), field.stored(spans))
            if region := touched_region(field.data, field.axis, rows):
                prefer_large_pages(region.address, region.extent)

    def pack(self, spans: Spans, which: RowSelector) -> None:
        """Pickle the elements of lists that `send` will send to rank 0; raises what their own hooks raise."""
        for field in self._fields:
            if isinstance(field.data, list) and (rows := which(field, spans)):
                self._pickled[id(field)] = self._packed(field, rows, 0)

    def send(self, spans: Spans, target: int, which: RowSelector) -> None:
        """Start sending the rows that ``which`` selects for the iterations."""
        for field in self._fields:
            if rows := which(field, spans):
                self.send_rows(field, rows, target)

    def receive(self, spans: Spans, source: int, which: RowSelector) -> None:
        """Start receiving what `send` sends when called with the same arguments."""
        for field in self._fields:
            if rows := which(field, spans):
                self.receive_rows(field, rows, source)

    def broadcast(self, field: Field, rows: Rows, root: int) -> None:
        """Start taking part in the broadcast of rows of an array from rank ``root`` to all others."""
        mine = self._communicator.rank == root
        place = self._draft(field) if self._in_drafts and not mine else field.data
        if regions := regions_of(place, field.axis, rows):
            self._regions += regions
            if place is not field.data:
                self._drafted.append((field, rows))
            self._requests += (self._communicator.broadcast_region(each, root) for each in regions)
        else:
            memory = (take if mine else receive_buffer)(field.data, field.axis, rows)
            self._requests.append(self._communicator.broadcast_memory(memory, root))
            if mine:
                self._held.append(memory)
            else:
                self._landed.append((field, rows, memory))
        if mine:
            self.bytes_sent += (
                count(rows) * field.data.nbytes // field.length * (self._communicator.ranks - 1)
            )

    def send_block(self, array: Array, places: RowBlock, target: int) -> None:
        """Start sending the block that some rows along one axis share with others along another axis."""
        packed = np.ascontiguousarray(array[_block(array, places)])
        self._held.append(packed)
        self._requests.append(self._communicator.send_memory(packed, target, DATA))
        self.bytes_sent += packed.nbytes

    def receive_block(self, array: Array, places: RowBlock, source: int) -> None:
        """Start receiving the block that `send_block` sends."""
        where = _block(array, places)
        memory = np.empty(np.broadcast_shapes(*(np.shape(each) for each in where)), array.dtype)
        self._requests.append(self._communicator.receive_memory(memory, source, DATA))
        self._blocks.append((array, where, memory))

    def watch(self, sending: Sequence[tuple[MPI.Request, Array]]) -> None:
        """Wait for these messages as well, which are sent from that memory."""
        self._requests += [request for request, _ in sending]
        self._held += [memory for _, memory in sending]
        self.bytes_sent += sum(memory.nbytes for _, memory in sending)

    def complete(self) -> None:
        """Wait until everything started has arrived and is in place."""
        self._communicator.complete(self._requests)
        for field, rows, packed in self._landed:
            put(field.data, field.axis, rows, packed)
        for array, where, packed in self._blocks:
            array[where] = packed
        for field, rows in self._drafted:
            put(field.data, field.axis, rows, take(self._drafts[id(field)], field.axis, rows))
        self._drafts, self._drafted = {}, []
        self._place_elements()
        for region in self._regions:
            region.free()
        self._requests, self._held, self._regions = [], [], []
        self._landed, self._blocks, self._lists = [], [], []

    def arrived(self) -> bool:
        """Whether everything started has arrived; if so, it is in place as well."""
        if self._requests and not self._communicator.have_completed(self._requests):
            return False
        self._requests = []
        self.complete()
        return True

    def send_rows(self, field: Field, rows: Rows, target: int) -> None:
        """Start sending rows of one field."""
        if isinstance(field.data, list):
            packed = self._pickled.pop(id(field), None) or self._packed(field, rows, target)
            self._requests.append(self._communicator.send_bytes(packed, target, PACKED))
            self.bytes_sent += len(packed)
            self._held.append(packed)
        elif regions := regions_of(field.data, field.axis, rows):
            self._regions += regions
            self._requests += (self._communicator.send_region(each, target, DATA) for each in regions)
            self.bytes_sent += count(rows) * field.data.nbytes // field.length
        else:
            array = take(field.data, field.axis, rows)
            self._held.append(array)
            self._requests.append(self._communicator.send_memory(array, target, DATA))
            self.bytes_sent += array.nbytes

    def _packed(self, field: Field, rows: Rows, target: int) -> bytes:
        """Elements of a list, with the states of their objects, which rank 0 gives to its own."""
        numbers = positions(rows)
        elements = [field.data[row] for row in numbers]
        states = field.states(numbers) if target == 0 else []
        if not states and are_seeds(elements) and (packed := self._objects.pack_seeds(elements, target)):
            return packed
        plain = not states and IMMUTABLE.issuperset(map(type, elements))
        return self._objects.pack((elements, states), target, plain=plain)

    def _place_elements(self) -> None:
        """Read the elements that have come, in order."""
        changed: list[tuple[Any, Any]] = []
        for field, rows, source, data in self._lists:
            elements, states = self._objects.unpack(data, source)
            for row, element in zip(positions(rows), elements, strict=True):
                field.data[row] = element
            changed += states
            if self._communicator.rank:
                field.note_parts(positions(rows))
        for part, state in changed:
            restore(part, state)

    def receive_rows(self, field: Field, rows: Rows, source: int) -> None:
        """Start receiving rows of one field, which `send_rows` sends."""
        if isinstance(field.data, list):
            data = self._communicator.wait_bytes(source, PACKED)[1]
            self._objects.arrived(data, source)
            self._lists.append((field, rows, source, data))
            self.bytes_received += len(data)
            return
        self.bytes_received += count(rows) * field.data.nbytes // field.length
        place = self._draft(field) if self._in_drafts else field.data
        if regions := regions_of(place, field.axis, rows):
            self._regions += regions
            self._requests += (self._communicator.receive_region(each, source, DATA) for each in regions)
            if self._in_drafts:
                self._drafted.append((field, rows))
            return
        memory = receive_buffer(field.data, field.axis, rows)
        self._requests.append(self._communicator.receive_memory(memory, source, DATA))
        self._landed.append((field, rows, memory))

    def _draft(self, field: Field) -> Array:
        if id(field) not in self._drafts:
            self._drafts[id(field)] = allocate(layout_of(field.data))
        return self._drafts[id(field)]


def _block(array: Array, places: RowBlock) -> tuple[IntegerArray, ...]:
    """The index of the block at rows of two axes."""
    lines: list[Any] = [range(length) for length in array.shape]
    for axis, rows in places:
        lines[axis] = positions(rows)
    return np.ix_(*(np.fromiter(line, dtype=np.int64, count=len(line)) for line in lines))


class WorkTransfers:
    """One rank's transfers of work in the course of a loop, with the rows that belong to it.

    After a synchronization all senders and receivers know the transfers, and wait until these have arrived.
    Work that one rank gives to another on its own travels while the giver goes on, which touches its rows no
    more.

    The transfers are counted in ``figures``. ``loop_residents`` are the identities of arrays that stay on the
    ranks: rank 0 has only its own rows of them.
    """

    def __init__(
        self,
        communicator: Communicator,
        units: Units,
        fields: Sequence[Field],
        objects: SharedObjects,
        loop_residents: Container[int],
        figures: RunCounters,
    ) -> None:
        self._communicator = communicator
        self._units = units
        self._fields = fields
        self._objects = objects
        self._loop_residents = loop_residents
        self._figures = figures
        self._iteration_bytes: dict[bool, float] = {}  # whether they move to rank 0
        self._giving: list[Mover] = []
        self._scattering: tuple[Mover, float] | None = None  # and until when to wait for it no more
        self.received: list[Spans] = []  # positions whose rows have come

    def move(self, transfers: Sequence[Transfer]) -> tuple[float, int]:
        """Take part in ``transfers``; returns the seconds taken and the bytes sent by this rank."""
        start, mover, rank = clock(), self._mover(), self._communicator.rank
        given = [transfer for transfer in transfers if transfer.source == rank]
        for transfer in given:
            self._send(mover, transfer.spans, transfer.target)
        for transfer in transfers:
            if transfer.target == rank:
                self._receive(mover, transfer.spans, transfer.source)
        mover.complete()
        taken = clock() - start
        self._figures.movement_s += taken
        self._count([(transfer.spans, transfer.target) for transfer in given], mover.bytes_sent)
        return taken, mover.bytes_sent

    def scatter(self, mover: Mover) -> None:
        """Let what this rank has started to send arrive while it works; it changes none of it.

        Within a host the receiver takes it by itself. What has not arrived in good time needs this rank,
        which then waits for it.
        """
        self._scattering = mover, clock() + _UNDERWAY_S + mover.bytes_sent / _UNDERWAY_BYTES_PER_S

    def advance(self) -> None:
        """Between two iterations: see to what is being scattered."""
        if self._scattering is not None:
            mover, until = self._scattering
            if mover.arrived():
                self._scattering = None
            elif clock() > until:
                self._complete_scatter()

    def _complete_scatter(self) -> None:
        if self._scattering is not None:
            self._scattering[0].complete()
            self._scattering = None

    def give(self, units: Spans, target: int) -> None:
        """Start sending the rows of units that this rank gave away."""
        start, mover = clock(), self._mover()
        self._send(mover, units, target)
        self._giving = [each for each in self._giving if not each.arrived()]
        self._giving.append(mover)
        self._figures.movement_s += clock() - start
        self._count([(units, target)], mover.bytes_sent)

    def take(self, units: Spans, source: int) -> None:
        """Wait for the rows of units that were given to this rank."""
        start, mover = clock(), self._mover()
        self._receive(mover, units, source)
        mover.complete()
        self._figures.movement_s += clock() - start

    def complete(self) -> None:
        """Wait until everything scattered and given away has arrived."""
        self._complete_scatter()
        for mover in self._giving:
            mover.complete()
        self._giving = []

    def _mover(self) -> Mover:
        return Mover(self._communicator, self._fields, self._objects)

    def _send(self, mover: Mover, units: Spans, target: int) -> None:
        mover.send(self._units.positions(units), target, self._needed_by(target))

    def _receive(self, mover: Mover, units: Spans, source: int) -> None:
        positions = self._units.positions(units)
        self.received.append(positions)
        mover.receive(positions, source, self._needed_by(self._communicator.rank))

    def _needed_by(self, rank: int) -> RowSelector:
        return Field.needed if rank else self._needed_at_0

    def _needed_at_0(self, field: Field, spans: Spans) -> Rows:
        # Rank 0 holds the user's own arrays: rows that do not stay on the ranks are there already.
        return field.needed(spans) if id(field.data) in self._loop_residents else ()

    def _count(self, given: Sequence[tuple[Spans, int]], size: int) -> None:
        for units, target in given:
            iterations = len(self._units.positions(units))
            self._figures.iterations_moved += iterations
            self._figures.bytes_predicted += iterations * self._predicted_bytes(to_root=not target)
        self._figures.bytes_moved += size

    def _predicted_bytes(self, to_root: bool) -> float:
        """Bytes that move with an iteration, as the model counts them; to rank 0 as `_needed_at_0`."""
        if to_root not in self._iteration_bytes:
            moving = (f for f in self._fields if not to_root or id(f.data) in self._loop_residents)
            self._iteration_bytes[to_root] = sum(field.iteration_bytes() for field in moving)
        return self._iteration_bytes[to_root]
