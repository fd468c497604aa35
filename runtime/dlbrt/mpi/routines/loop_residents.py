"""What of a loop stays on the ranks in a routine, as a run sees it; `dlbrt.mpi.routines.resident_arrays` keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import reduce
from typing import TYPE_CHECKING

from dlbrt.data.directory import RowDirectory
from dlbrt.data.field import Field
from dlbrt.data.footprint import Rows, count, union
from dlbrt.data.memory import Array, ArrayLocation
from dlbrt.data.spans import Spans
from dlbrt.mpi.routines.array_transfers import ArrayTransfer, row_field
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.speed.ownership import IterationOwnership


@dataclass(slots=True, eq=False)
class ResidentArray:
    """One array on the ranks: ``axis`` is the dimension along which it has rows.

    ``ownerships`` say who owns them, by the dimension, in blocks (True) or dealt otherwise; ``version`` is that
    of the shares to which ranks have fitted what they keep. ``owner`` gives what owns the memory, None once
    that is gone.
    """

    token: int
    axis: int
    directory: RowDirectory
    place: ArrayLocation
    owner: Callable[[], object]
    bounds: tuple[int, int]
    row_bytes: int
    ownerships: dict[tuple[int, bool], IterationOwnership] = field(default_factory=dict)
    version: int = 0

    def array(self) -> Array | None:
        """The array; None where nobody is left who could look at it."""
        owner = self.owner()
        return None if owner is None else self.place.array(owner)


@dataclass(frozen=True, slots=True)
class LoopResidents:
    """The residents that one run of a loop uses, by the identity of their arrays, and the fields of each."""

    residents: dict[int, ResidentArray] = field(default_factory=dict)
    fields: dict[int, list[Field]] = field(default_factory=dict)

    def __contains__(self, data: object) -> bool:
        return id(data) in self.residents

    @property
    def tokens(self) -> dict[int, int]:
        """The tokens of the residents, by the identity of their arrays."""
        return {key: resident.token for key, resident in self.residents.items()}

    def arrays(self) -> dict[int, Field]:
        """The arrays as rows, by token."""
        return {r.token: row_field(self.fields[key][0].data, r.axis) for key, r in self.residents.items()}

    def deliver(self, key: int, needs: Sequence[Rows]) -> list[ArrayTransfer]:
        """What has to travel of a resident so that each rank has its rows."""
        resident, axis = self.residents[key], self.axis(key)
        if axis == resident.axis:
            return [ArrayTransfer(resident.token, axis, each) for each in resident.directory.deliver(needs)]
        array, before = self.fields[key][0].data, resident.axis
        resident.directory, found = resident.directory.change_axis(array.shape[axis], needs)
        resident.axis, resident.row_bytes = axis, row_bytes(array, axis)
        return [ArrayTransfer(resident.token, before, each, (axis, across)) for each, across in found]

    def by_rows(self) -> list[tuple[ResidentArray, int]]:
        """The residents whose rows are those of iterations, and along which axis; what is stored to first."""
        keys = [key for key, fields in self.fields.items() if any(each.by_rows for each in fields)]
        keys.sort(key=lambda key: not any(each.spec.stores for each in self.fields[key]))
        return [(self.residents[key], self.axis(key)) for key in keys]

    def form(self) -> str:
        """The rows that go with an iteration, in words: what speeds are measured of."""
        rows = sorted(
            f"{'x'.join(map(str, each.shape[: r.axis] + each.shape[r.axis + 1 :])) or 1} {each.dtype.str}"
            for key, r in self.residents.items()
            for each in (self.fields[key][0].data,)
        )
        return ", ".join(rows)

    def iteration_bytes(self) -> float:
        """About how many bytes go with an iteration that changes hands."""
        return sum(each.iteration_bytes() for fields in self.fields.values() for each in fields)

    def bytes_of(self, array_transfers: Sequence[ArrayTransfer]) -> int:
        """The bytes that arrive with parcels."""
        arrays = {r.token: self.fields[key][0].data for key, r in self.residents.items()}
        return sum(
            _bytes_in(array_transfer, arrays[array_transfer.number]) for array_transfer in array_transfers
        )

    def axis(self, key: int) -> int:
        """The dimension along which the run needs the rows of a resident."""
        wanted = axis(self.fields[key])
        return self.residents[key].axis if wanted is None else wanted

    def needs(self, key: int, held: Spans, *, whole: bool) -> Rows:
        """The rows of a resident that a rank needs for the positions it begins with."""
        fields = self.fields[key]
        if whole or any(not each.by_rows and each.spec.reads for each in fields):
            return (range(fields[0].data.shape[self.axis(key)]),)
        return reduce(union, (each.needed(held) for each in fields), ())

    def touched(self, key: int, held: Spans, *, whole: bool) -> Rows:
        """The rows of a resident that a rank needs or stores to, for those positions."""
        stored = (each.stored(held) for each in self.fields[key])
        return reduce(union, stored, self.needs(key, held, whole=whole))

    def stores(self, key: int, stored: Callable[[Field, Spans], Rows], done: Spans) -> Rows:
        """The rows of a resident that a rank has stored to."""
        return reduce(union, (stored(each, done) for each in self.fields[key]), ())


def row_bytes(array: Array, axis: int) -> int:
    """The bytes of a row along that dimension."""
    return int(array.nbytes // array.shape[axis])


def _bytes_in(array_transfer: ArrayTransfer, array: Array) -> int:
    carried = array_transfer.row_transfer.carried * row_bytes(array, array_transfer.axis)
    if array_transfer.across is None:
        return carried
    axis, rows = array_transfer.across
    return int(carried // array.shape[axis] * count(rows))


def axis(group: Sequence[Field]) -> int | None:
    """The dimension that a loop's fields of one array are distributed along; None if they are not."""
    return next((each.axis for each in group if each.by_rows or each.spec.stores), None)
