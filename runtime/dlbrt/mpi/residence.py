"""Arrays that stay on the ranks while a routine goes on: rank 0's directory of them.

An array enters when a loop of the routine distributes it, and is known by its memory, so that a swap of
names is nothing. Workers keep their copy under a token. What is valid where is told by its `Holdings`;
memory of two residents never overlaps: whatever overlaps one in another shape makes it come home first and
leave.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import reduce
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from dlbrt.core.tenure import Tenure
from dlbrt.dist.field import Field
from dlbrt.dist.footprint import Rows, count, union
from dlbrt.dist.holdings import Holdings
from dlbrt.dist.memory import Array, Whereabouts, whereabouts
from dlbrt.dist.spans import Spans
from dlbrt.mpi.conductor import Conductor
from dlbrt.mpi.parcels import Parcel, row_field
from dlbrt.mpi.reach import reach_of
from dlbrt.records import dataclass

__all__ = ["Residence", "Resident", "Staying"]


@dataclass(slots=True, eq=False)
class Resident:
    """One array on the ranks: ``axis`` is the dimension along which it has rows.

    ``tenures`` say who owns them, by the dimension, in blocks (True) or dealt otherwise; ``version`` is that
    of the shares to which ranks have fitted what they keep. ``owner`` gives what owns the memory, None once
    that is gone.
    """

    token: int
    axis: int
    holdings: Holdings
    place: Whereabouts
    owner: Callable[[], object]
    bounds: tuple[int, int]
    row_bytes: int
    tenures: dict[tuple[int, bool], Tenure] = field(default_factory=dict)
    version: int = 0

    def array(self) -> Array | None:
        """The array; None where nobody is left who could look at it."""
        owner = self.owner()
        return None if owner is None else self.place.array(owner)


@dataclass(frozen=True, slots=True)
class Staying:
    """The residents that one run of a loop uses, by the identity of their arrays, and the fields of each."""

    residents: dict[int, Resident] = field(default_factory=dict)
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

    def deliver(self, key: int, needs: Sequence[Rows]) -> list[Parcel]:
        """What has to travel of a resident so that each rank has its rows."""
        resident, axis = self.residents[key], self.axis(key)
        if axis == resident.axis:
            return [Parcel(resident.token, axis, each) for each in resident.holdings.deliver(needs)]
        array, before = self.fields[key][0].data, resident.axis
        resident.holdings, found = resident.holdings.turn(array.shape[axis], needs)
        resident.axis, resident.row_bytes = axis, _row_bytes(array, axis)
        return [Parcel(resident.token, before, each, (axis, across)) for each, across in found]

    def by_rows(self) -> list[tuple[Resident, int]]:
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

    def bytes_of(self, parcels: Sequence[Parcel]) -> int:
        """The bytes that arrive with parcels."""
        arrays = {r.token: self.fields[key][0].data for key, r in self.residents.items()}
        return sum(_bytes_in(parcel, arrays[parcel.number]) for parcel in parcels)

    def axis(self, key: int) -> int:
        """The dimension along which the run needs the rows of a resident."""
        wanted = _axis(self.fields[key])
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


class Residence:
    """What stays on the ranks, as rank 0 knows it; ``home_bytes`` have come home in ``fetches`` messages."""

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor
        self._ranks = conductor.wire.ranks
        self._residents: dict[Whereabouts, Resident] = {}
        self.home_bytes = 0
        self.fetches = 0

    def see(self, value: object, subscripts: Sequence[Any] = (), *, writing: bool = False) -> None:
        """Make valid on rank 0 what can be reached from a value; if ``writing``, rank 0 alone has it then.

        ``subscripts`` are those by which the value, an array, is about to be subscripted.
        """
        if not self._residents:
            return
        if type(value) is np.ndarray and (own := self._residents.get(whereabouts(value))):
            self._bring([(own, _rows_at(value, own, subscripts))], writing)
            if writing and not subscripts:
                self._drop(own)  # it may be about to be resized, which weak references would forbid
            return
        reach = reach_of(value)
        writing = writing or reach.active
        if reach.everything:
            self.home(writing=writing)
        else:
            touched = ((r, _overlap(r, array)) for array in reach.arrays for r in self._touched(array))
            self._bring(touched, writing)

    def is_stale(self, array: Array) -> bool:
        """Whether memory that an array looks at may have rows that are not valid on rank 0."""
        return any(r.holdings.missing(0, _overlap(r, array)) for r in self._touched(array))

    def home(self, *, writing: bool = False) -> None:
        """Make everything valid on rank 0."""
        self._bring([(r, r.holdings.everything()) for r in list(self._residents.values())], writing)

    def leave(self) -> None:
        """Bring everything home; nothing is resident afterwards."""
        self.home()
        for resident in list(self._residents.values()):
            self._conductor.publisher.drop(resident.token)
        self._residents = {}

    def before_fork(self) -> None:
        """Bring everything home, which a forked process cannot ask for; not within a loop on all ranks."""
        if not self._conductor.leading:
            self.home()

    def in_child(self) -> None:
        """Take all as it lies here, in a process that was forked."""
        self._residents = {}

    def take(self, fields: Sequence[Field]) -> Staying:
        """The arrays of a loop's fields that stay where they are; all others among them come home."""
        groups: dict[int, list[Field]] = {}
        for each in fields:
            if isinstance(each.data, np.ndarray):
                groups.setdefault(id(each.data), []).append(each)
        able = {key: group for key, group in groups.items() if _can_stay(group)}
        crossing = _overlapping([group[0].data for group in groups.values()])
        staying = Staying()
        for key, group in groups.items():
            if key in able and key not in crossing:
                staying.residents[key] = self._resident(group[0].data, _axis(group))
                staying.fields[key] = group
            else:
                self.see(group[0].data, writing=any(each.spec.stores for each in group))
        return staying

    def _resident(self, array: Array, axis: int | None) -> Resident:
        found = self._residents.get(whereabouts(array))
        if found is None:
            for other in self._touched(array):
                self._bring([(other, other.holdings.everything())], writing=False)
                self._drop(other)
            found = self._enter(array, axis or 0)
        return found

    def _enter(self, array: Array, axis: int) -> Resident:
        token, owner = self._conductor.publisher.new_token(), array
        while type(owner.base) is np.ndarray:
            owner = owner.base

        def gone(_: object) -> None:
            self._drop(made)

        # Memory that an array owns is nobody's once that is gone. What else owns memory lives with the view.
        alive: Callable[[], object] = weakref.ref(owner, gone) if owner.base is None else lambda: array
        place, bounds = whereabouts(array), byte_bounds(array)
        holdings = Holdings(array.shape[axis], self._ranks)
        made = Resident(token, axis, holdings, place, alive, bounds, _row_bytes(array, axis))
        self._residents[place] = made
        return made

    def _drop(self, resident: Resident) -> None:
        if self._residents.get(resident.place) is resident:
            del self._residents[resident.place]
            resident.owner = _nobody  # the weak reference goes at once
            self._conductor.publisher.drop(resident.token)

    def _touched(self, array: Array) -> list[Resident]:
        """The residents whose memory may overlap an array's."""
        if not array.size:
            return []
        low, high = byte_bounds(array)
        return [r for r in self._residents.values() if low < r.bounds[1] and r.bounds[0] < high]

    def _bring(self, wanted: Iterable[tuple[Resident, Rows]], writing: bool) -> None:
        parcels: list[Parcel] = []
        fields: dict[int, Field] = {}
        for resident, rows in wanted:
            array = resident.array()
            if array is None:
                continue
            needs = [rows, *([()] * (self._ranks - 1))]
            for shipment in resident.holdings.deliver(needs):
                parcels.append(Parcel(resident.token, resident.axis, shipment))
                fields[resident.token] = row_field(array, resident.axis)
                self.home_bytes += shipment.carried * resident.row_bytes
            if writing:
                resident.holdings.stored_by(0, rows)
        if parcels:
            self.fetches += len(parcels)
            self._conductor.fetch(parcels, fields)


def _nobody() -> None:
    """The owner of what was given up."""


def _can_stay(group: Sequence[Field]) -> bool:
    array = group[0].data
    if type(array) is not np.ndarray or array.dtype.hasobject or not array.ndim or not array.size:
        return False
    low, high = byte_bounds(array)
    if high - low != array.nbytes or any(each.by_elements for each in group):
        return False
    return len({each.axis for each in group if each.by_rows or each.spec.stores}) <= 1


def _axis(group: Sequence[Field]) -> int | None:
    """The dimension that a loop's fields of one array are distributed along; None if they are not."""
    return next((each.axis for each in group if each.by_rows or each.spec.stores), None)


def _overlapping(arrays: Sequence[Array]) -> set[int]:
    """Identities of those whose memory may overlap another's."""
    extents = sorted((*byte_bounds(array), id(array)) for array in arrays if array.size)
    found: set[int] = set()
    reached, last = 0, 0
    for low, high, key in extents:
        if low < reached:
            found |= {key, last}
        if high > reached:
            reached, last = high, key
    return found


def _row_bytes(array: Array, axis: int) -> int:
    return int(array.nbytes // array.shape[axis])


def _bytes_in(parcel: Parcel, array: Array) -> int:
    carried = parcel.shipment.carried * _row_bytes(array, parcel.axis)
    if parcel.across is None:
        return carried
    axis, rows = parcel.across
    return int(carried // array.shape[axis] * count(rows))


def _rows_at(array: Array, resident: Resident, subscripts: Sequence[Any]) -> Rows:
    """The rows that subscripts lead to; all of them where that is not plain to see."""
    everything = resident.holdings.everything()
    plain = all(isinstance(each, int | np.integer | slice) for each in subscripts)
    if len(subscripts) <= resident.axis or not plain or any(isinstance(each, bool) for each in subscripts):
        return everything
    length = array.shape[resident.axis]
    try:
        rows = range(length)[subscripts[resident.axis]]
    except (IndexError, TypeError, ValueError):  # what the program itself is about to raise
        return ()
    if isinstance(rows, int):
        return (range(rows, rows + 1),)
    rows = rows if rows.step > 0 else rows[::-1]
    return (range(rows[0], rows[-1] + 1, rows.step if len(rows) > 1 else 1),) if rows else ()


def _overlap(resident: Resident, array: Array) -> Rows:
    """The rows of a resident that an array, another view of its memory, may touch."""
    place = resident.place
    if resident.axis or place.strides[0] != resident.row_bytes:  # rows do not lie one after the other
        return resident.holdings.everything()
    low, high = byte_bounds(array)
    start = max(0, (low - resident.bounds[0]) // resident.row_bytes)
    stop = min(place.shape[0], -((resident.bounds[0] - high) // resident.row_bytes))  # rounded up
    return (range(start, stop),) if start < stop else ()
