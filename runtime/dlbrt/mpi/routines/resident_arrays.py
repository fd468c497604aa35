"""Arrays that stay on the ranks while a routine goes on: rank 0's directory of them.

An array enters when a loop of the routine distributes it, and is known by its memory, so that a swap of names
changes nothing. Workers keep their copy under a token. Its `RowDirectory` says which rows are valid where.
The memory of two residents never overlaps: before an array enters that overlaps a resident in another shape,
the resident is made valid at rank 0 and dropped.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from dlbrt.data.directory import RowDirectory
from dlbrt.data.field import Field
from dlbrt.data.footprint import Rows
from dlbrt.data.memory import Array, ArrayLocation, array_location
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.mpi.routines.loop_residents import (
    ArrayTransfer,
    LoopResidents,
    ResidentArray,
    axis,
    row_bytes,
    row_field,
)
from dlbrt.mpi.routines.reach import reach_of


class ResidentArrays:
    """The arrays that stay on the ranks; rank 0 fetched ``home_bytes`` of them in ``fetches`` transfers.

    ``leaves`` is called with the token of an array that is about to leave them, ``fetching`` before rows are
    fetched, ``stored`` with an array and the rows that the program is about to store to.
    """

    def __init__(self, root_runtime: RootRuntime) -> None:
        self._root_runtime = root_runtime
        self._residents: dict[ArrayLocation, ResidentArray] = {}
        self.home_bytes = 0
        self.fetches = 0
        self.leaves: Callable[[int], None] = lambda _: None
        self.fetching: Callable[[], AbstractContextManager[None]] = nullcontext
        self.stored: Callable[[ResidentArray, Rows], None] = lambda _resident, _rows: None

    def __iter__(self) -> Iterator[ResidentArray]:
        return iter([*self._residents.values()])

    def forget_all(self) -> list[ResidentArray]:
        """The arrays, of which the other ranks have nothing any more; none is resident afterwards."""
        found, self._residents = [*self._residents.values()], {}
        return found

    def ensure_valid(self, value: object, subscripts: Sequence[Any] = (), *, writing: bool = False) -> None:
        """Make valid on rank 0 what can be reached from a value; if ``writing``, it is valid only there then.

        ``subscripts`` are those by which the value, an array, is about to be subscripted.
        """
        if not self._residents:
            return
        if type(value) is np.ndarray and (own := self._residents.get(array_location(value))):
            self._bring([(own, _rows_at(value, own, subscripts))], writing)
            if writing and not subscripts:
                self._drop(own)  # it may be about to be resized, which weak references would forbid
            return
        reach = reach_of(value)
        writing = writing or reach.active
        if reach.everything:
            self.ensure_all_valid(writing=writing)
        else:
            touched = ((r, _overlap(r, array)) for array in reach.arrays for r in self._touched(array))
            self._bring(touched, writing)

    def known(self, array: Array) -> ResidentArray | None:
        """What is known of an array that stays on the ranks; None if it does not."""
        return self._residents.get(array_location(array))

    def count_fetched(self, transferred: int) -> None:
        """Count bytes of a transfer to rank 0."""
        self.fetches += 1
        self.home_bytes += transferred

    def is_stale(self, array: Array) -> bool:
        """Whether an array may view rows of a resident that are not valid on rank 0."""
        return any(r.directory.missing(0, _overlap(r, array)) for r in self._touched(array))

    def touches(self, array: Array) -> bool:
        """Whether an array may view memory of a resident."""
        return bool(self._touched(array))

    def ensure_all_valid(self, *, writing: bool = False) -> None:
        """Make everything valid on rank 0."""
        self._bring([(r, r.directory.everything()) for r in list(self._residents.values())], writing)

    def release_all(self) -> None:
        """Make everything valid on rank 0; nothing is resident afterwards."""
        self.ensure_all_valid()
        for resident in list(self._residents.values()):
            self._drop(resident)

    def before_fork(self) -> None:
        """Make everything valid on rank 0, since a forked process cannot; not within a loop on all ranks."""
        if not self._root_runtime.leading:
            self.ensure_all_valid()

    def in_child(self) -> None:
        """In a forked process: take all arrays as they are here."""
        self._residents = {}

    def admit(self, fields: Sequence[Field]) -> LoopResidents:
        """The arrays of a loop's fields that stay on the ranks; all others are made valid on rank 0."""
        groups: dict[int, list[Field]] = {}
        for each in fields:
            if isinstance(each.data, np.ndarray):
                groups.setdefault(id(each.data), []).append(each)
        crossing = _overlapping([group[0].data for group in groups.values()])
        loop_residents = LoopResidents()
        for key, group in groups.items():
            if key not in crossing and _can_be_resident(group):
                loop_residents.residents[key] = self._resident(group[0].data, axis(group))
                loop_residents.fields[key] = group
            else:
                self.ensure_valid(group[0].data, writing=any(each.spec.stores for each in group))
        return loop_residents

    def _resident(self, array: Array, axis: int | None) -> ResidentArray:
        found = self._residents.get(array_location(array))
        if found is None:
            for other in self._touched(array):
                self._bring([(other, other.directory.everything())], writing=False)
                self._drop(other)
            found = self._enter(array, axis or 0)
        return found

    def _enter(self, array: Array, axis: int) -> ResidentArray:
        token, owner = next(self._root_runtime.publisher.tokens), array
        while type(owner.base) is np.ndarray:
            owner = owner.base

        def gone(_: object) -> None:
            self._drop(made)

        # Memory that an array owns is gone with the array. Any other owner of memory lives with the view.
        alive: Callable[[], object] = weakref.ref(owner, gone) if owner.base is None else lambda: array
        place, bounds = array_location(array), byte_bounds(array)
        directory = RowDirectory(array.shape[axis], self._root_runtime.communicator.ranks)
        made = ResidentArray(token, axis, directory, place, alive, bounds, row_bytes(array, axis))
        self._residents[place] = made
        return made

    def _drop(self, resident: ResidentArray) -> None:
        if self._residents.get(resident.place) is resident:
            del self._residents[resident.place]
            resident.owner = lambda: None  # drops the weak reference at once
            self.leaves(resident.token)
            self._root_runtime.publisher.drop(resident.token)

    def _touched(self, array: Array) -> list[ResidentArray]:
        """The residents whose memory may overlap an array's."""
        if not array.size:
            return []
        low, high = byte_bounds(array)
        return [r for r in self._residents.values() if low < r.bounds[1] and r.bounds[0] < high]

    def _bring(self, wanted: Iterable[tuple[ResidentArray, Rows]], writing: bool) -> None:
        with self._undisturbed(), self.fetching():
            self._bring_rows(wanted, writing)

    def _undisturbed(self) -> AbstractContextManager[None]:
        """In the block an interrupt waits: rows are noted as valid before they have come."""
        return nullcontext() if self._root_runtime.leading else interrupts.held()

    def _bring_rows(self, wanted: Iterable[tuple[ResidentArray, Rows]], writing: bool) -> None:
        array_transfers: list[ArrayTransfer] = []
        fields: dict[int, Field] = {}
        for resident, rows in wanted:
            array = resident.array()
            if array is None:
                continue
            for row_transfer in resident.directory.deliver_to(0, rows):
                array_transfers.append(ArrayTransfer(resident.token, resident.axis, row_transfer))
                fields[resident.token] = row_field(array, resident.axis)
                self.home_bytes += row_transfer.carried * resident.row_bytes
            if writing:
                resident.directory.stored_by(0, rows)
                self.stored(resident, rows)
        if array_transfers:
            self.fetches += len(array_transfers)
            self._root_runtime.fetch(array_transfers, fields)


def _can_be_resident(group: Sequence[Field]) -> bool:
    array = group[0].data
    if type(array) is not np.ndarray or array.dtype.hasobject or not array.ndim or not array.size:
        return False
    low, high = byte_bounds(array)
    if high - low != array.nbytes or any(each.by_elements for each in group):
        return False
    return len({each.axis for each in group if each.by_rows or each.spec.stores}) <= 1


def _overlapping(arrays: Sequence[Array]) -> set[int]:
    """Identities of the arrays whose memory may overlap another's."""
    extents = sorted((*byte_bounds(array), id(array)) for array in arrays if array.size)
    found: set[int] = set()
    reached, last = 0, 0
    for low, high, key in extents:
        if low < reached:
            found |= {key, last}
        if high > reached:
            reached, last = high, key
    return found


def _rows_at(array: Array, resident: ResidentArray, subscripts: Sequence[Any]) -> Rows:
    """The rows that subscripts select; all of them where the subscripts are not plain."""
    everything = resident.directory.everything()
    plain = all(isinstance(each, int | np.integer | slice) for each in subscripts)
    if len(subscripts) <= resident.axis or not plain or any(isinstance(each, bool) for each in subscripts):
        return everything
    length = array.shape[resident.axis]
    try:
        rows = range(length)[subscripts[resident.axis]]
    except (IndexError, TypeError, ValueError):  # the program is about to raise the same
        return ()
    if isinstance(rows, int):
        return (range(rows, rows + 1),)
    rows = rows if rows.step > 0 else rows[::-1]
    return (range(rows[0], rows[-1] + 1, rows.step if len(rows) > 1 else 1),) if rows else ()


def _overlap(resident: ResidentArray, array: Array) -> Rows:
    """The rows of a resident that an array, another view of its memory, may touch."""
    place = resident.place
    if resident.axis or place.strides[0] != resident.row_bytes:  # rows do not lie one after the other
        return resident.directory.everything()
    low, high = byte_bounds(array)
    start = max(0, (low - resident.bounds[0]) // resident.row_bytes)
    stop = min(place.shape[0], -((resident.bounds[0] - high) // resident.row_bytes))  # rounded up
    return (range(start, stop),) if start < stop else ()
