"""Run by `tests/mpi/test_host_copies.py` on several ranks: arrays that are sent whole, and where they lie.

The argument says what fails: nothing, making segments, or mapping them on rank 2. Rank 0 prints a line for
each array: whether all workers have it, and whether it is one piece of memory.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from dlbrt.data.memory import Array, layout_of
from dlbrt.data.segment import Bytes
from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.values import host_copies
from mpi4py import MPI


def refused(*_: Any) -> Bytes:
    """What a system says that gives no such memory."""
    raise OSError("refused")


def file_of(array: Array) -> str:
    """The number of the file in which an array lies, 0 where it is memory of the process alone."""
    with open("/proc/self/maps") as lines:
        for line in lines:
            first, last = (int(word, 16) for word in line.split()[0].split("-"))
            if first <= array.ctypes.data < last:
                return line.split()[4]
    return "none"


def main() -> None:
    """Two arrays, in the order of C and of Fortran; each worker then writes to its own."""
    communicator = Communicator(MPI.COMM_WORLD)
    if sys.argv[1] == "making":
        host_copies.MemorySegment = refused  # type: ignore[misc, assignment]
    if sys.argv[1] == "mapping" and communicator.rank == 2:
        host_copies.map_segment = refused
    copies = host_copies.HostCopies(communicator)
    numbers = np.random.default_rng(3).random((700, 1000))
    for array in (numbers, np.asfortranarray(numbers)):
        if communicator.rank == 0:
            communicator.complete([copies.broadcast(array if array.flags.c_contiguous else array.T)])
            found, equal = "0", True
        else:
            received = copies.receive(layout_of(array))
            found, equal = file_of(received), received.tobytes("A") == array.tobytes("A")
            equal = equal and received.strides == array.strides
            received[:] = communicator.rank
            communicator.comm.Split(1, 0).Barrier()
            equal = equal and bool((received == communicator.rank).all())
        if communicator.rank == 0:
            communicator.comm.Split(0, 0)
        files = communicator.comm.gather((found, equal))
        if files is not None:
            held = [file for file, _ in files[1:]]
            print(all(each for _, each in files), held[0] != "0" and len(set(held)) == 1, flush=True)


main()
