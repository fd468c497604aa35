"""Rows of an array as memory that MPI sends from, and receives into, without packing by hand.

Along any axis of a dense array, rows ``start, start + step, ...`` are blocks of one size at one distance,
repeated at one distance: a vector of vectors of bytes. Contiguous rows are one message. Others are messages
of a bounded number of blocks each, because MPI libraries read blocks straight from the sender's memory only
up to the length of one list of addresses (``IOV_MAX``, 1024); a longer vector takes them seconds. Both sides
know the layout, so they cut alike.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator

from mpi4py import MPI

from dlbrt.data.footprint import Rows
from dlbrt.data.memory import Array
from dlbrt.records import dataclass

#: For blocks smaller than this, numpy packs faster than MPI's datatype engine.
_MIN_BLOCK_BYTES = 4096

#: The most blocks in one message.
_MAX_BLOCKS = 1024


@dataclass(frozen=True, slots=True)
class MemoryRegion:
    """``count`` items of a datatype (bytes, or one committed layout) at an address."""

    address: int
    extent: int
    count: int
    datatype: MPI.Datatype

    @property
    def message(self) -> tuple[MPI.buffer, int, MPI.Datatype]:
        """The region as mpi4py takes it."""
        return MPI.buffer.fromaddress(self.address, self.extent), self.count, self.datatype

    def free(self) -> None:
        """Free the datatype, once no message uses it."""
        if self.datatype != MPI.BYTE:
            self.datatype.Free()


def memory_of(array: Array) -> MPI.buffer:
    """The memory of a dense array, by address: mpi4py refuses read-only ones, although sending only reads."""
    return MPI.buffer.fromaddress(array.ctypes.data, array.nbytes)


def touched_region(array: Array, axis: int, rows: Rows) -> MemoryRegion | None:
    """The memory of which filling the rows touches every page; None where it leaves some out."""
    layout = _strided(array, axis, rows)
    return layout.stretch() if layout is not None and layout.largest_gap < mmap.PAGESIZE else None


def regions_of(array: Array, axis: int, rows: Rows) -> tuple[MemoryRegion, ...]:
    """The rows as regions, one for each message; none where packing them is faster.

    Only the layout of the array decides, so the regions of ranks that hold arrays of one layout match.
    """
    layout = _strided(array, axis, rows)
    if layout is None:
        return ()
    if layout.is_contiguous:
        return (layout.stretch(),)
    return tuple(layout.regions()) if layout.block_bytes >= _MIN_BLOCK_BYTES else ()


@dataclass(frozen=True, slots=True)
class _StridedRows:
    """Rows ``run`` of ``row`` bytes each, out of ``length``, repeated ``outer`` times."""

    address: int
    outer: int
    length: int
    row: int
    run: range

    @property
    def is_contiguous(self) -> bool:
        return self.outer == 1 and self.run.step == 1

    @property
    def block_bytes(self) -> int:
        """The bytes that lie together."""
        return self.row * (len(self.run) if self.run.step == 1 else 1)

    @property
    def largest_gap(self) -> int:
        """The most bytes between two blocks."""
        between_lines = self.length - (self.run[-1] - self.run.start + 1) if self.outer > 1 else 0
        return self.row * max(between_lines, self.run.step - 1)

    def stretch(self) -> MemoryRegion:
        """The bytes from the first block to the end of the last, with what lies between."""
        rows = (self.outer - 1) * self.length + self.run[-1] - self.run.start + 1
        size = rows * self.row
        return MemoryRegion(self.address + self.run.start * self.row, size, size, MPI.BYTE)

    def regions(self) -> Iterator[MemoryRegion]:
        """All of them, cut into vectors of at most so many blocks."""
        blocks = 1 if self.run.step == 1 else len(self.run)
        lines, at_once = max(1, _MAX_BLOCKS // blocks), len(self.run) if blocks == 1 else _MAX_BLOCKS
        for line in range(0, self.outer, lines):
            for first in range(0, len(self.run), at_once):
                yield self._vector(line, min(lines, self.outer - line), self.run[first : first + at_once])

    def _vector(self, line: int, lines: int, run: range) -> MemoryRegion:
        distance = self.length * self.row
        address = self.address + line * distance + run.start * self.row
        extent = (lines - 1) * distance + (run[-1] - run.start + 1) * self.row
        rows = MPI.BYTE.Create_hvector(len(run), self.row, run.step * self.row)
        repeated = rows.Create_hvector(lines, 1, distance)
        rows.Free()
        return MemoryRegion(address, extent, 1, repeated.Commit())


def _strided(array: Array, axis: int, rows: Rows) -> _StridedRows | None:
    """Rows of a dense array; None where there is no such description of them."""
    if len(rows) != 1 or not (array.flags.c_contiguous or array.flags.f_contiguous):
        return None
    shape = array.shape
    if not array.flags.c_contiguous:
        shape, axis = shape[::-1], array.ndim - 1 - axis
    row = math.prod(shape[axis + 1 :]) * array.itemsize
    return _StridedRows(array.ctypes.data, math.prod(shape[:axis]), shape[axis], row, rows[0])
