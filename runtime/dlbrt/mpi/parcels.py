"""Rows of residents on their way, as every rank is told of them.

The same list goes to all, so each knows what it sends and what it gets, and messages carry contents alone.
Rows that all other ranks get from one are broadcast; what every rank has for all the others makes a
gathering on all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlbrt.contract import Distribution, Mode
from dlbrt.dist.field import Field
from dlbrt.dist.footprint import IndexMap, Rows
from dlbrt.dist.holdings import Shipment
from dlbrt.dist.memory import Array
from dlbrt.dist.spec import ArraySpec
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.objects import Objects
from dlbrt.mpi.wire import Wire
from dlbrt.records import dataclass

__all__ = ["Delivery", "Errand", "Parcel", "Spare", "row_field"]


@dataclass(frozen=True, slots=True)
class Parcel:
    """A shipment of the array ``number`` (a token), whose rows lie along ``axis``.

    Of rows that are going to lie ``across``, along another axis, only these travel.
    """

    number: int
    axis: int
    shipment: Shipment
    across: tuple[int, Rows] | None = None


@dataclass(frozen=True, slots=True)
class Spare:
    """Rows of the array ``number`` that each rank gives up, once all parcels have been delivered."""

    number: int
    axis: int
    rows: tuple[Rows, ...]


@dataclass(frozen=True, slots=True)
class Errand:
    """What rank 0 tells ranks to send, between two loops."""

    parcels: tuple[Parcel, ...]


def row_field(array: Array, axis: int) -> Field:
    """An array as rows along an axis."""
    return Field("", array, ArraySpec(Distribution.BLOCK, axis, Mode.UPDATE), IndexMap(0, 1))


class Delivery:
    """The part of one rank in a delivery, which is under way once this is made."""

    def __init__(self, wire: Wire, parcels: Sequence[Parcel], fields: Mapping[int, Field]) -> None:
        """``fields`` are the arrays by number, at least those of which this rank sends or gets rows."""
        self._mover = mover = Mover(wire, (), Objects())
        for parcel in parcels:
            shipment = parcel.shipment
            if parcel.across is not None:
                places = ((parcel.axis, shipment.rows), parcel.across)
                if shipment.source == wire.rank:
                    mover.send_block(fields[parcel.number].data, places, shipment.targets[0])
                elif wire.rank in shipment.targets:
                    mover.receive_block(fields[parcel.number].data, places, shipment.source)
            elif len(shipment.targets) == wire.ranks - 1 and wire.ranks > 2:
                mover.broadcast(fields[parcel.number], shipment.rows, shipment.source)
            elif shipment.source == wire.rank:
                for target in shipment.targets:
                    mover.send_rows(fields[parcel.number], shipment.rows, target)
            elif wire.rank in shipment.targets:
                mover.receive_rows(fields[parcel.number], shipment.rows, shipment.source)

    def complete(self) -> None:
        """Wait until what this rank gets lies in its place, and what it sends has left; at once if again."""
        self._mover.complete()
