"""Rows of residents on their way, as every rank is told of them.

The same list goes to all, so each knows what it sends and what it gets, and messages carry contents alone.
Rows that all other ranks get from one are broadcast; what every rank has for all the others makes a
gathering on all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlbrt.contract import Distribution, Mode
from dlbrt.data.array_table import ArraySpec
from dlbrt.data.directory import RowTransfer
from dlbrt.data.field import Field
from dlbrt.data.footprint import IndexMap, Rows
from dlbrt.data.memory import Array
from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.values.objects import SharedObjects
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class ArrayTransfer:
    """A shipment of the array ``number`` (a token), whose rows lie along ``axis``.

    Of rows that are going to lie ``across``, along another axis, only these travel.
    """

    number: int
    axis: int
    row_transfer: RowTransfer
    across: tuple[int, Rows] | None = None


@dataclass(frozen=True, slots=True)
class Eviction:
    """Rows of the array ``number`` that each rank gives up, once all parcels have been delivered."""

    number: int
    axis: int
    rows: tuple[Rows, ...]


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """What rank 0 tells ranks to send, between two loops."""

    array_transfers: tuple[ArrayTransfer, ...]


def row_field(array: Array, axis: int) -> Field:
    """An array as rows along an axis."""
    return Field("", array, ArraySpec(Distribution.BLOCK, axis, Mode.UPDATE), IndexMap(0, 1))


class PendingTransfers:
    """The part of one rank in a delivery, which is under way once this is made."""

    def __init__(
        self,
        communicator: Communicator,
        array_transfers: Sequence[ArrayTransfer],
        fields: Mapping[int, Field],
    ) -> None:
        """``fields`` are the arrays by number, at least those of which this rank sends or gets rows."""
        self._mover = mover = Mover(communicator, (), SharedObjects())
        for array_transfer in array_transfers:
            row_transfer = array_transfer.row_transfer
            if array_transfer.across is not None:
                places = ((array_transfer.axis, row_transfer.rows), array_transfer.across)
                if row_transfer.source == communicator.rank:
                    mover.send_block(fields[array_transfer.number].data, places, row_transfer.targets[0])
                elif communicator.rank in row_transfer.targets:
                    mover.receive_block(fields[array_transfer.number].data, places, row_transfer.source)
            elif len(row_transfer.targets) == communicator.ranks - 1 and communicator.ranks > 2:
                mover.broadcast(fields[array_transfer.number], row_transfer.rows, row_transfer.source)
            elif row_transfer.source == communicator.rank:
                for target in row_transfer.targets:
                    mover.send_rows(fields[array_transfer.number], row_transfer.rows, target)
            elif communicator.rank in row_transfer.targets:
                mover.receive_rows(fields[array_transfer.number], row_transfer.rows, row_transfer.source)

    def complete(self) -> None:
        """Wait until what this rank gets lies in its place, and what it sends has left; at once if again."""
        self._mover.complete()
