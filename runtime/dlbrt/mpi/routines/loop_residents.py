"""Arrays that stay on the ranks, as one run of a loop sees them, and their rows on the way between ranks.

`dlbrt.mpi.routines.resident_arrays` keeps the arrays from loop to loop. The same list of transfers goes to
all ranks, so each knows what it sends and what it receives, and messages carry contents alone. Rows that all
other ranks get from one are broadcast; if every rank has rows for all others, the broadcasts make up an
allgather.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

from dlbrt.contract import Distribution, Mode
from dlbrt.data.array_table import ArraySpec
from dlbrt.data.directory import RowDirectory, RowTransfer
from dlbrt.data.field import Field
from dlbrt.data.footprint import IndexMap, Rows, count, union
from dlbrt.data.memory import Array, ArrayLocation, hold_only
from dlbrt.data.spans import Spans
from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.regions import MemoryRegion, regions_of
from dlbrt.mpi.values.objects import RootObjects
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.mpi.routines.checkpoints import LoggedRun
    from dlbrt.speed.ownership import IterationOwnership


@dataclass(frozen=True, slots=True)
class ArrayTransfer:
    """Rows of the array ``number`` (a token) that lie along ``axis`` and go to other ranks.

    Where the array is about to be distributed along another axis, ``across`` is that axis and its rows:
    only these parts of the rows travel.
    """

    number: int
    axis: int
    row_transfer: RowTransfer
    across: tuple[int, Rows] | None = None


@dataclass(frozen=True, slots=True)
class Eviction:
    """Rows of the array ``number`` that each rank gives up once all transfers have arrived."""

    number: int
    axis: int
    rows: tuple[Rows, ...]


#: What rank 0 asks a rank to send between two loops: of each array its number, its axis, and the rows.
RowRequests = list[tuple[int, int, Rows]]


def regions_in_place(array: Array, axis: int, rows: Rows) -> list[MemoryRegion]:
    """The rows as regions, one for each message; none where packing them is faster."""
    found = [regions_of(array, axis, (run,)) for run in rows]
    return [*chain.from_iterable(found)] if all(found) else []


def row_field(array: Array, axis: int) -> Field:
    """An array as rows along an axis."""
    return Field("", array, ArraySpec(Distribution.BLOCK, axis, Mode.UPDATE), IndexMap(0, 1))


def is_broadcast(array_transfer: ArrayTransfer, ranks: int) -> bool:
    """Whether rows go from one rank to all others, where there are several."""
    targets = array_transfer.row_transfer.targets
    return array_transfer.across is None and len(targets) == ranks - 1 and ranks > 2


def hold_only_coming(made: Mapping[int, Array], array_transfers: Sequence[ArrayTransfer], rank: int) -> None:
    """Give back the pages of new arrays, by number, that hold none of the rows which come to this rank.

    Their memory may have been used before. It must be called before the rows are asked for.
    """
    nothing: Rows = ()
    for number, array in made.items():
        coming = [t for t in array_transfers if t.number == number and rank in t.row_transfer.targets]
        axis, rows = coming[0].axis if coming else 0, nothing
        for each in coming:
            rows = union(rows, each.row_transfer.rows)
        if all(t.axis == axis and t.across is None for t in coming):
            hold_only(array, axis, rows)


class PendingTransfers:
    """One rank's part in a list of transfers.

    The constructor starts broadcasts, and what this rank sends, `receive` what it gets: messages of one
    source arrive in order, so rows that have been sent before have to be asked for before.
    """

    def __init__(
        self,
        communicator: Communicator,
        array_transfers: Sequence[ArrayTransfer],
        fields: Mapping[int, Field],
    ) -> None:
        """``fields`` are the arrays by number, at least those of which this rank sends or gets rows."""
        self._mover = mover = Mover(communicator, (), RootObjects())
        self._coming: list[tuple[Field, ArrayTransfer]] = []
        for each in array_transfers:
            rows, source, targets = (
                each.row_transfer.rows,
                each.row_transfer.source,
                each.row_transfer.targets,
            )
            if is_broadcast(each, communicator.ranks):
                mover.broadcast(fields[each.number], rows, source)
            elif source == communicator.rank:
                for target in targets:
                    if each.across is None:
                        mover.send_rows(fields[each.number], rows, target)
                    else:
                        mover.send_block(fields[each.number].data, ((each.axis, rows), each.across), target)
            elif communicator.rank in targets:
                self._coming.append((fields[each.number], each))

    def receive(self) -> PendingTransfers:
        """Start receiving what others send to this rank; these transfers."""
        for rows_of, each in self._coming:
            rows, source = each.row_transfer.rows, each.row_transfer.source
            if each.across is None:
                self._mover.receive_rows(rows_of, rows, source)
            else:
                self._mover.receive_block(rows_of.data, ((each.axis, rows), each.across), source)
        return self

    def complete(self) -> None:
        """Wait until what this rank receives is in place and what it sends has left; may be called again."""
        self._mover.complete()


@dataclass(slots=True, eq=False)
class ResidentArray:
    """One array on the ranks: ``axis`` is the dimension along which it has rows.

    ``ownerships`` say who owns the rows, by the dimension and by whether iterations are dealt in blocks;
    ``version`` is that of the shares to which ranks have fitted what they keep. ``owner`` returns the object
    that owns the memory, None once it is gone.
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
        """The array; None where no reference to it is left."""
        owner = self.owner()
        return None if owner is None else self.place.array(owner)


@dataclass(frozen=True, slots=True)
class LoopResidents:
    """The residents that one run of a loop uses, and the fields of each, by the identity of their arrays.

    ``logged`` is the run as it goes into the log, where ranks may die.
    """

    residents: dict[int, ResidentArray] = field(default_factory=dict)
    fields: dict[int, list[Field]] = field(default_factory=dict)
    logged: LoggedRun | None = None

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
        """The transfers of a resident after which each rank has the rows that it ``needs``."""
        resident, axis = self.residents[key], self.axis(key)
        if axis == resident.axis:
            return [ArrayTransfer(resident.token, axis, each) for each in resident.directory.deliver(needs)]
        array, before = self.fields[key][0].data, resident.axis
        resident.directory, found = resident.directory.change_axis(array.shape[axis], needs)
        resident.axis, resident.row_bytes = axis, row_bytes(array, axis)
        return [ArrayTransfer(resident.token, before, each, (axis, across)) for each, across in found]

    def by_rows(self) -> list[tuple[ResidentArray, int]]:
        """The residents whose rows belong to iterations, and along which axis; those stored to come first."""
        keys = [key for key, fields in self.fields.items() if any(each.by_rows for each in fields)]
        keys.sort(key=lambda key: not any(each.spec.stores for each in self.fields[key]))
        return [(self.residents[key], self.axis(key)) for key in keys]

    def form(self) -> str:
        """The rows that go with an iteration, in words: measured speeds are kept by it."""
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
        """The bytes that transfers bring."""
        arrays = {r.token: self.fields[key][0].data for key, r in self.residents.items()}
        return sum(_bytes_in(each, arrays[each.number]) for each in array_transfers)

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
