"""Arrays that every rank holds whole and does not change: one copy for the workers of a host.

On each host the lowest rank above 0 leads. Rank 0 broadcasts to the leaders alone, each into a segment
(`dlbrt.data.segment`) which the other workers of the host then map. Rank 0's own array is the program's and
stays where it is, so its host holds two copies, any other host one.

Where a host gives no segment, or a worker cannot map it (containers with process numbers of their own), the
leader broadcasts to the workers of its host, and from then on tries no more.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from dlbrt.data.memory import (
    Array,
    Layout,
    allocate,
    array_within,
    extent_with_alignment,
    prefer_large_pages,
)
from dlbrt.data.segment import NUMBERS, Bytes, MemorySegment, map_segment
from dlbrt.mpi.regions import memory_of

if TYPE_CHECKING:
    from dlbrt.mpi.communicator import Communicator

#: Smaller arrays are not worth an exchange of messages and an open file for each.
_SHARED_FROM = 4 << 20


def is_shared(ranks: int, layout: Layout) -> bool:
    """Whether workers of a host hold one copy of an array that does not change; all ranks know alike."""
    return ranks > 2 and layout.extent >= _SHARED_FROM and layout.is_contiguous


class HostCopies:
    """Copies for hosts, as each rank takes part in making them; all ranks create it together."""

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator
        comm, is_root = communicator.comm, communicator.rank == 0
        host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        self._workers = host.Split(0 if is_root else 1, communicator.rank)
        host.Free()
        self._leads = self._workers.Get_rank() == 0
        self._sources = comm.Split(0 if self._leads else 1, communicator.rank)
        self._segments_work = self._workers.Get_size() > 1

    @property
    def copies(self) -> int:
        """At rank 0: how many copies a broadcast makes."""
        return int(self._sources.Get_size()) - 1

    def broadcast(self, memory: Array) -> MPI.Request:
        """At rank 0: start sending a contiguous array to the leaders."""
        return self._sources.Ibcast([memory_of(memory), MPI.BYTE], root=0)

    def receive(self, layout: Layout) -> Array:
        """At a worker: the array of that layout which rank 0 broadcasts."""
        segment = _segment(layout) if self._leads and self._segments_work else None
        array = _array(segment, layout)
        if self._leads:
            self._complete(self._sources.Ibcast([memory_of(array), MPI.BYTE], root=0))
        if self._segments_work:
            if (common := self._mapped(segment)) is not None:
                return array_within(common, layout)
            self._segments_work = False
        self._complete(self._workers.Ibcast([memory_of(array), MPI.BYTE], root=0))
        return array

    def _mapped(self, segment: MemorySegment | None) -> Bytes | None:
        """The leader's segment as this worker maps it; None where some worker of the host cannot map it."""
        numbers = np.array(segment.numbers if segment is not None else (0,) * NUMBERS, dtype=np.int64)
        self._complete(self._workers.Ibcast(numbers, root=0))
        mapped = None
        with suppress(OSError):
            mapped = map_segment(numbers.tolist())
        found, all_found = np.array([mapped is not None]), np.empty(1, dtype=bool)
        self._complete(self._workers.Iallreduce(found, all_found, op=MPI.LAND))
        if segment is not None:
            segment.close()
        return mapped if all_found[0] else None

    def _complete(self, request: MPI.Request) -> None:
        self._communicator.complete([request])


def _segment(layout: Layout) -> MemorySegment | None:
    """A new segment for an array; None where there is none to be had."""
    try:
        return MemorySegment(extent_with_alignment(layout))
    except OSError:
        return None


def _array(segment: MemorySegment | None, layout: Layout) -> Array:
    """An array of that layout in the segment, or in memory of its own."""
    if segment is not None:
        return array_within(segment.memory, layout)
    array = allocate(layout)
    prefer_large_pages(array.ctypes.data, array.nbytes)
    return array
