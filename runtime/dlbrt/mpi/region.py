"""Rows of an array as MPI sees memory: an address and a datatype, so that nothing is packed by hand.

Along any axis of a dense array, rows ``start, start + step, ...`` are blocks of one size at one distance,
repeated at one distance: a vector of vectors of bytes.
"""

from __future__ import annotations

import math

from mpi4py import MPI

from dlbrt.dist.footprint import Rows
from dlbrt.dist.memory import Array
from dlbrt.records import dataclass

__all__ = ["MemoryRegion", "region_of"]

#: Below this block size numpy packs faster than MPI's datatype engine walks.
_MIN_BLOCK_BYTES = 1024


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
        # By address: mpi4py refuses the buffer of a read-only array, although sending only reads.
        return MPI.buffer.fromaddress(self.address, self.extent), self.count, self.datatype

    def free(self) -> None:
        """Give the datatype back, once no message uses it."""
        if self.datatype != MPI.BYTE:
            self.datatype.Free()


def region_of(array: Array, axis: int, rows: Rows) -> MemoryRegion | None:
    """The rows as a region; None where they are better packed.

    Ranks that hold arrays of one layout get regions that match, since only the layout decides.
    """
    if len(rows) != 1 or not (array.flags.c_contiguous or array.flags.f_contiguous):
        return None
    shape = array.shape
    if not array.flags.c_contiguous:
        shape, axis = shape[::-1], array.ndim - 1 - axis
    run, length = rows[0], shape[axis]
    outer = math.prod(shape[:axis])
    block = math.prod(shape[axis + 1 :]) * array.itemsize
    address = array.ctypes.data + run.start * block
    if outer == 1 and run.step == 1:
        return MemoryRegion(address, len(run) * block, len(run) * block, MPI.BYTE)
    if block * (len(run) if run.step == 1 else 1) < _MIN_BLOCK_BYTES:
        return None
    extent = (outer - 1) * length * block + (run[-1] - run.start + 1) * block
    return MemoryRegion(address, extent, 1, _layout(outer, length, block, run))


def _layout(outer: int, length: int, block: int, run: range) -> MPI.Datatype:
    rows = MPI.BYTE.Create_hvector(len(run), block, run.step * block)
    repeated = rows.Create_hvector(outer, 1, length * block)
    rows.Free()
    return repeated.Commit()
