"""Work that goes from rank to rank in the course of a loop, with the rows that belong to it.

After a synchronization all that give and take know the transfers, and wait until these have arrived. Work
that one rank gives to another goes on its own: nobody here touches its rows any more, so they travel while
this rank goes on.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from dlbrt.dist.field import Field
from dlbrt.dist.footprint import Rows
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Transfer
from dlbrt.dist.units import Units
from dlbrt.mpi.mover import Mover, RowSelector
from dlbrt.mpi.objects import SharedObjects
from dlbrt.mpi.team import RunCounters, clock
from dlbrt.mpi.wire import Communicator

__all__ = ["WorkTransfers"]


class WorkTransfers:
    """Those of one rank, counted in its ``figures``.

    ``loop_residents`` are the identities of arrays that stay on the ranks: of those rank 0 has no more than its
    rows.
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
        self._giving: list[Mover] = []

    def move(self, transfers: Sequence[Transfer]) -> tuple[float, int]:
        """Take part in these; the seconds that it took, and the bytes that went from here."""
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
        self._count([transfer.spans for transfer in given], mover.bytes_sent)
        return taken, mover.bytes_sent

    def give(self, units: Spans, target: int) -> None:
        """Begin to send the rows of units that were given away."""
        start, mover = clock(), self._mover()
        self._send(mover, units, target)
        self._giving = [each for each in self._giving if not each.arrived()]
        self._giving.append(mover)
        self._figures.movement_s += clock() - start
        self._count([units], mover.bytes_sent)

    def take(self, units: Spans, source: int) -> None:
        """Wait for the rows of units that were given to this rank."""
        start, mover = clock(), self._mover()
        self._receive(mover, units, source)
        mover.complete()
        self._figures.movement_s += clock() - start

    def complete(self) -> None:
        """Wait until what was given has arrived."""
        for mover in self._giving:
            mover.complete()
        self._giving = []

    def _mover(self) -> Mover:
        return Mover(self._communicator, self._fields, self._objects)

    def _send(self, mover: Mover, units: Spans, target: int) -> None:
        mover.send(self._units.positions(units), target, self._needed_by(target))

    def _receive(self, mover: Mover, units: Spans, source: int) -> None:
        mover.receive(self._units.positions(units), source, self._needed_by(self._communicator.rank))

    def _needed_by(self, rank: int) -> RowSelector:
        return Field.needed if rank else self._needed_at_0

    def _needed_at_0(self, field: Field, spans: Spans) -> Rows:
        # Rank 0 holds the user's own arrays: what does not stay on the ranks is there already.
        return field.needed(spans) if id(field.data) in self._loop_residents else ()

    def _count(self, given: Sequence[Spans], size: int) -> None:
        self._figures.iterations_moved += sum(len(self._units.positions(units)) for units in given)
        self._figures.bytes_moved += size
